// Asks in answer to events, but not at each of them.

/**
 * A function that has `act` done soon after it is called: at most every `ms`, and once more after the last call, so that what is
 * shown in the end is what was true in the end. Nothing is done after `signal`; what `act` throws is left to the next time.
 */
export function paced(ms, act, signal) {
  let timer = 0;
  let busy = false;
  let again = false;
  const run = async () => {
    timer = 0;
    busy = true;
    again = false;
    try {
      await act();
    } catch {
      // The next event asks again.
    }
    busy = false;
    if (again) call();
  };
  const call = () => {
    if (signal.aborted) return;
    if (busy) again = true;
    else timer ||= setTimeout(run, ms);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  return call;
}
