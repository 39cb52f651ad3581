import { existsSync } from 'node:fs'

/** The shell first: its pages take a fifth less processor time than those of the browser without a window. */
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** Returns the path of Chromium on this machine: `CHROMIUM`, or as Debian names it. */
export const findChromium = (): string | undefined =>
  process.env['CHROMIUM'] ??
  programs.map((program) => `/usr/bin/${program}`).find((path) => existsSync(path))
