// Sets theme and language before the first paint, so that nothing flashes. The only script that is not a module.
"use strict";
{
  const kept = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // storage is switched off
    }
  };
  const theme = kept("windrow.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const language = kept("windrow.language");
  if (language === "zh") document.documentElement.lang = "zh-Hans";
}
