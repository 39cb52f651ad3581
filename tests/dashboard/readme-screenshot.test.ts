import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { pictureOf, schemes, startScreenshots } from './readme-screenshot'

let screenshots: Awaited<ReturnType<typeof startScreenshots>>

beforeAll(async () => {
  screenshots = await startScreenshots()
})
afterAll(() => screenshots[Symbol.asyncDispose]())

/** Text may be rendered otherwise by another version of Chromium; a moved card changes more. */
const maxChangedPercent = 2
const maxFileBytes = 200_000

describe.each(schemes)('the README picture of the dashboard, %s', (scheme) => {
  test('shows the page as it is now', async () => {
    const committed = await Bun.file(pictureOf(scheme)).bytes()
    const taken = await screenshots.take(scheme)
    await using context = await screenshots.browser.newContext()
    const changed = await changedPercent(await context.newPage(), committed, taken)
    // After a change on purpose: node bin/tollgate.mjs run tests/dashboard/readme-screenshot.ts
    expect(changed).toBeLessThanOrEqual(maxChangedPercent)
  })

  test('loads quickly', () => {
    expect(Bun.file(pictureOf(scheme)).size).toBeLessThan(maxFileBytes)
  })
})

/** Returns the share of pixels that differ visibly; all of them when the sizes differ. */
function changedPercent(page: Page, ...pictures: [Uint8Array, Uint8Array]): Promise<number> {
  const urls = pictures.map((png) => `data:image/png;base64,${png.toBase64()}`)
  return page.evaluate(`(${compare})(${JSON.stringify(urls)})`)
}

/** Runs in the browser, which decodes the pictures. */
const compare = `async (urls) => {
  const visible = 24
  const [one, other] = await Promise.all(urls.map(async (url) => {
    const image = new Image()
    image.src = url
    await image.decode()
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, image.width, image.height)
  }))
  if (one.width !== other.width || one.height !== other.height) return 100
  let changed = 0
  for (let at = 0; at < one.data.length; at += 4) {
    const differs = [0, 1, 2].some(
      (channel) => Math.abs(one.data[at + channel] - other.data[at + channel]) > visible,
    )
    if (differs) changed += 1
  }
  return (400 * changed) / one.data.length
}`
