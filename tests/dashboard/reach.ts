import type { Locator, Page } from 'playwright-core'
import { aboutColors, barriersNow, showIn } from './accessibility'
import { eventually } from '../../server/testing/eventually'

const phone = { width: 390, height: 844 }
/** More than any page needs from where its keyboard user starts. */
const maxStops = 120

/** How an element and the frame around it look. */
const look = `(one) => [one, one.parentElement].map((part) => {
  const { outline, boxShadow, borderColor, backgroundColor, textDecoration, color } = getComputedStyle(part)
  return [outline, boxShadow, borderColor, backgroundColor, textDecoration, color].join()
}).join()`

/** Whether the focus shows on the element that has it; a text field has its caret. */
const showsFocus = `(() => {
  const one = document.activeElement
  if (one.matches('input, textarea')) return true
  const look = ${look}
  const focused = look(one)
  one.blur()
  const blurred = look(one)
  one.focus()
  return focused !== blurred && one.matches(':focus-visible')
})()`

const isFocused = async (target: Locator) =>
  (await target.and(target.page().locator(':focus')).count()) > 0

/** Presses Tab until an element has the focus. Throws where it never has, or where that does not show. */
export async function tabTo(target: Locator): Promise<void> {
  const page = target.page()
  await target.waitFor()
  for (let stop = 0; stop < maxStops; stop += 1) {
    await page.keyboard.press('Tab')
    if (!(await isFocused(target))) continue
    if (await page.evaluate<boolean>(showsFocus)) return
    throw new Error(`the focus does not show at ${String(target)}`)
  }
  throw new Error(`Tab does not lead to ${String(target)}`)
}

/** Presses a button or follows a link by the keyboard alone. */
export async function pressByKey(target: Locator): Promise<void> {
  await tabTo(target)
  await target.page().keyboard.press('Enter')
}

/** Enters a text in a field by the keyboard alone. */
export async function typeByKey(target: Locator, text: string): Promise<void> {
  await tabTo(target)
  await target.page().keyboard.type(text)
}

/** Opens the palette by its shortcut, and enters a text. */
export async function searchByKey(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Go to a page').waitFor()
  await page.keyboard.insertText(text)
}

const sideways = 'document.scrollingElement.scrollWidth'

/**
 * Finds what is wrong with a page as it stands: barriers of colors on a desk in light ones, all barriers on a phone in dark
 * ones, and a page that scrolls sideways there.
 */
export async function faultsOf(page: Page): Promise<unknown[]> {
  const desk = page.viewportSize() ?? { width: 1280, height: 720 }
  await page.waitForLoadState('networkidle')
  await showIn(page, 'light')
  const onDesk = await barriersNow(page, aboutColors)
  await page.setViewportSize(phone)
  await eventually(() => page.evaluate<boolean>(`innerWidth === ${phone.width}`))
  await showIn(page, 'dark')
  const onPhone = await barriersNow(page)
  const width = await page.evaluate<number>(sideways)
  await page.setViewportSize(desk)
  await showIn(page, 'light')
  return [
    ...onDesk.map((one) => ['desk, light', ...one]),
    ...onPhone.map((one) => ['phone, dark', ...one]),
    ...(width > phone.width ? [`the page is ${width} pixels wide on a phone`] : []),
  ]
}
