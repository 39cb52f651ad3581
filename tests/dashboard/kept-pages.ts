import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** The events that tests listen to. */
const listened = [
  'console',
  'dialog',
  'download',
  'pageerror',
  'popup',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
] as const

/** Leaves a page as a new one of its context is: empty, heard and changed by no test. */
async function clear(page: Page, size: ReturnType<Page['viewportSize']>, media: Media) {
  for (const event of listened) page.removeAllListeners(event)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate('try { sessionStorage.clear() } catch {}')
  await page.goto('about:blank')
  await page.mouse.move(-1, -1)
  await page.emulateMedia({ media: null, ...media })
  if (size) await page.setViewportSize(size)
}

type Media = Required<Pick<BrowserContextOptions, 'colorScheme' | 'reducedMotion'>>

/**
 * Keeps the pages of a context that tests close, for the next ones that ask for a page. Their processes have compiled
 * the scripts of the dashboard: one loads a page in a third of the processor time of a new one, which is a second.
 */
export function keepPages(context: BrowserContext, options: BrowserContextOptions = {}): void {
  const { colorScheme = 'light', reducedMotion = 'no-preference' } = options
  const kept: Page[] = []
  const newPage = context.newPage.bind(context)
  context.newPage = async () => {
    const found = kept.pop()
    if (found) return found
    const page = await newPage()
    const size = page.viewportSize()
    const close = page.close.bind(page)
    page.close = async () => {
      if (kept.includes(page)) return
      try {
        await clear(page, size, { colorScheme, reducedMotion })
        kept.push(page)
      } catch {
        // It has crashed, or its context was closed before.
        await close()
      }
    }
    return page
  }
}

/** Leaves a context as a new one is, but for its pages and what they have compiled, and for files of `origin` that cannot change. */
export async function emptyContext(context: BrowserContext, origin: string): Promise<void> {
  for (const page of context.pages()) await page.close()
  await context.unrouteAll({ behavior: 'ignoreErrors' })
  await context.clearCookies()
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  const storageTypes = 'local_storage,session_storage,indexeddb,cache_storage,service_workers'
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes })
  await session.detach()
  await page.close()
}
