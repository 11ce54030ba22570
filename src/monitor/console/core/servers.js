// What the other servers are called: crawls name them by id only.

import { get } from "./api.js";

const names = new Map();

/** The name of a server, or its id while that is all that is known. */
export function serverName(id) {
  return names.get(id) ?? id;
}

/** Asks for the names if one of `ids` has none yet; true if there is something new. */
export async function learnServers(ids) {
  if (ids.every((id) => names.has(id))) return false;
  try {
    for (const server of (await get("/servers")).items) names.set(server.id, server.name);
  } catch {
    return false; // the ids will do
  }
  return true;
}
