// Takes the README's pictures of the dashboard: the overview with sample figures, light and dark.
// Run as: node bin/tollgate.mjs run tests/dashboard/readme-screenshot.ts
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { startBrowser } from './browser'
import { overviewSample, sampleTime } from './overview-sample'

export const schemes = ['light', 'dark'] as const
export type Scheme = (typeof schemes)[number]

const root = join(import.meta.dir, '../..')

/** Returns the path of a committed picture. */
export const pictureOf = (scheme: Scheme) => join(root, `docs/images/dashboard-${scheme}.png`)

interface Screenshots extends AsyncDisposable {
  browser: Browser
  /** Takes a picture of the overview. */
  take: (scheme: Scheme) => Promise<Buffer>
}

/** Bundles the dashboard and serves it without an API: the sample answers in the browser. */
export async function startScreenshots(): Promise<Screenshots> {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-screenshot-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const build = Bun.spawn([process.execPath, join(root, 'dashboard/build.ts'), folder])
  if ((await build.exited) !== 0) throw new Error('The dashboard could not be bundled.')
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url)
      return new Response(Bun.file(join(folder, pathname === '/' ? 'index.html' : pathname)))
    },
  })
  stack.defer(() => server.stop(true))
  const browser = await startBrowser()
  stack.defer(() => browser.close())
  const address = `http://localhost:${server.port}/?period=30d`
  return {
    browser,
    take: (colorScheme) => takeOverview(browser, address, colorScheme),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Debian's Chromium brings this font, whereas the default one differs from machine to machine. */
const fonts = `:root, :host {
  --mantine-font-family: 'Liberation Sans' !important;
  --mantine-font-family-headings: 'Liberation Sans' !important;
}`

async function takeOverview(browser: Browser, address: string, colorScheme: Scheme) {
  await using context = await browser.newContext({
    viewport: { width: 1440, height: 1080 },
    colorScheme,
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.clock.setFixedTime(sampleTime)
  await answerFromSample(page)
  await page.goto(address)
  await page.addStyleTag({ content: fonts })
  await page.locator('.recharts-bar-rectangle').last().waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  return await page.screenshot({ animations: 'disabled' })
}

const answerFromSample = (page: Page) =>
  page.route('**/api/**', (route) => {
    const json = overviewSample[new URL(route.request().url()).pathname]
    return json ? route.fulfill({ json }) : route.fulfill({ status: 404, json: {} })
  })

if (import.meta.main) {
  await using screenshots = await startScreenshots()
  for (const scheme of schemes) await Bun.write(pictureOf(scheme), await screenshots.take(scheme))
}
