// What this browser remembers: language, theme. Works, forgetfully, where storage is switched off.

export function kept(name) {
  try {
    return localStorage.getItem(`windrow.${name}`);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(`windrow.${name}`);
    else localStorage.setItem(`windrow.${name}`, value);
  } catch {
    // It will be asked again next time.
  }
}
