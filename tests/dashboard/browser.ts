import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser of this machine, `CHROMIUM` or where Debian has it. Throws where there is none. */
function findChromium(): string {
  const path = process.env['CHROMIUM'] ?? places.find((place) => existsSync(place))
  if (path) return path
  throw new Error('These tests need Chromium: apt-get install chromium, or name it in CHROMIUM.')
}

/** Before a test's own end, which would take browser and gateway away from those that follow. */
const patienceMs = 30_000

/** Starts it without a proxy: nothing of a test leaves this machine. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: [
      '--no-sandbox',
      '--no-proxy-server',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost',
    ],
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(patienceMs)
    return context
  }
  return browser
}

/** What a page complained of so far. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  return complaints
}
