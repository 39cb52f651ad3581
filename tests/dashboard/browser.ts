import { text } from 'node:stream/consumers'
import {
  chromium,
  type Browser,
  type BrowserServer,
  type Download,
  type Page,
} from 'playwright-core'
import { keepPages } from './kept-pages'
import { findChromium } from '../harness/chromium'
import { eventually } from '../../server/testing/eventually'

function requireChromium(): string {
  const path = findChromium()
  if (path) return path
  const install = 'apt-get install chromium-headless-shell'
  throw new Error(`These tests need Chromium: ${install}, or name it in CHROMIUM.`)
}

/** Before a test's own end, which would take browser and gateway away from those that follow. */
const patienceMs = 30_000

/** Notes the words of notices and pressed buttons, which take them back after seconds, in a page that may be busy. */
const noteWords = `(() => {
  const words = (window.wordsOfTest = [])
  const notice = '.mantine-Notification-root'
  const noted = new WeakSet()
  const note = (one) => {
    if (noted.has(one)) return
    noted.add(one)
    words.push(one.textContent)
  }
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const button = (target instanceof Element ? target : target.parentElement)?.closest('button')
      if (button) words.push(button.textContent)
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue
        if (node.matches(notice)) note(node)
        for (const one of node.querySelectorAll(notice)) note(one)
      }
    }
  }).observe(document, { childList: true, characterData: true, subtree: true })
})()`

/** Notes the text that a page has put on the clipboard: there is one for all pages of a browser, whichever file opened them. */
const noteCopies = `(() => {
  const { clipboard } = navigator
  if (!clipboard) return
  const write = clipboard.writeText.bind(clipboard)
  clipboard.writeText = async (text) => {
    await write(text)
    window.copyOfTest = text
  }
})()`

/** Returns the text that the open document has copied last. */
export const copiedText = (page: Page) => page.evaluate<string | undefined>('window.copyOfTest')

const says = (words: string, said: string | RegExp) =>
  typeof said === 'string' ? words.includes(said) : said.test(words)

/**
 * Waits until notices or a pressed button of the open document have said something so often, also where they have
 * taken it back since.
 */
export const heard = (page: Page, said: string | RegExp, times = 1) =>
  eventually(async () => {
    const words = await page.evaluate<string[]>('window.wordsOfTest')
    return words.filter((one) => says(one, said)).length >= times
  })

/** Without a proxy: nothing of a test leaves this machine. */
const launchOptions = () => ({
  executablePath: requireChromium(),
  args: [
    '--no-sandbox',
    '--no-proxy-server',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost',
  ],
})

/** Starts one that several test files use at once, until it is closed: signals do not end it. */
export const launchBrowserServer = (): Promise<BrowserServer> =>
  chromium.launchServer({
    ...launchOptions(),
    host: '127.0.0.1',
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })

/**
 * Connects to the browser that all test files share, or starts one for a file that runs by itself. Closing it closes the
 * contexts that were made by it, and no others.
 */
export async function startBrowser(): Promise<Browser> {
  const shared = process.env['TEST_BROWSER']
  const browser = await (shared ? chromium.connect(shared) : chromium.launch(launchOptions()))
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    // A browser with a window grants it to the page in front.
    await context.grantPermissions(['clipboard-write'])
    context.setDefaultTimeout(patienceMs)
    await context.addInitScript(noteWords)
    await context.addInitScript(noteCopies)
    keepPages(context, options)
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

/** Returns the text of a file that a page saves. A shared browser tells no path of it. */
export const savedText = async (download: Download): Promise<string> =>
  text(await download.createReadStream())
