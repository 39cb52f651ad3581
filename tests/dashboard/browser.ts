import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser of this machine, `CHROMIUM` or where Debian has it. Throws where there is none. */
function findChromium(): string {
  const path = process.env['CHROMIUM'] ?? places.find((place) => existsSync(place))
  if (path) return path
  throw new Error('These tests need Chromium: apt-get install chromium, or name it in CHROMIUM.')
}

/** Starts it without a proxy: nothing of a test leaves this machine. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium(),
    args: [
      '--no-sandbox',
      '--no-proxy-server',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost',
    ],
  })

/** What a page complained of so far. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  return complaints
}
