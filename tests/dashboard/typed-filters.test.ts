import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** Records the texts that the page itself puts into fields. */
const recordTexts = `{
  const { prototype } = HTMLInputElement
  const value = Object.getOwnPropertyDescriptor(prototype, 'value')
  window.putTexts = []
  Object.defineProperty(prototype, 'value', {
    ...value,
    set(text) {
      window.putTexts.push(text)
      value.set.call(this, text)
    },
  })
}`

/** Types a letter as soon as the address changes, before the page has read the address. */
const typeAtNavigation = `{
  const replace = history.replaceState.bind(history)
  history.replaceState = (...state) => {
    replace(...state)
    history.replaceState = replace
    document.execCommand('insertText', false, 'o')
  }
}`

/** Within one task, so that no pause of typing ends in between. */
const typeAndClear = `{
  document.execCommand('insertText', false, 'nothing')
  for (const button of document.querySelectorAll('main button'))
    if (button.textContent === 'Clear filters') button.click()
}`

test('a letter typed while the search is put into the address stays in the field', async () => {
  const page = await dashboard.context.newPage()
  await page.addInitScript(recordTexts)
  await page.goto(`${dashboard.address}/models`)
  const search = page.getByLabel('Search')
  await search.focus()
  await page.evaluate(typeAtNavigation)
  await page.keyboard.type('ech')
  await page.waitForURL(/search=echo$/)
  await page.getByRole('link', { name: 'Sandbox Echo' }).waitFor()
  expect(await page.evaluate('window.putTexts')).not.toContain('ech')
  expect(await search.inputValue()).toBe('echo')
  await page.close()
})

test('filters that are cleared right after typing stay clear', async () => {
  const page = await dashboard.context.newPage()
  await page.clock.install()
  await page.goto(`${dashboard.address}/models?free=yes`)
  const search = page.getByLabel('Search')
  await search.focus()
  await page.getByRole('button', { name: 'Clear filters' }).waitFor()
  await page.evaluate(typeAndClear)
  await page.getByRole('checkbox', { name: 'Free only', checked: false }).waitFor()
  await page.clock.runFor(5000)
  expect(await search.inputValue()).toBe('')
  expect(new URL(page.url()).search).toBe('')
  await page.close()
})
