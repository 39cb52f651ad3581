import type { Result, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

/** The program of axe, without the comments that each page would parse. */
const axeSource = Bun.file(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir))

/** A violated rule, and the elements that violate it. */
export type Barrier = [rule: string, elements: string[]]

/**
 * Finds what violates the rules of axe in a page as it stands; those of `rules`, or all of them. The pages have no frames,
 * so that axe need not merge the results of several in a page of its own.
 */
async function violationsOf(page: Page, rules?: readonly string[]): Promise<Result[]> {
  const isThere = await page.evaluate<boolean>('"axe" in window')
  if (!isThere) await page.evaluate(await axeSource.text())
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: [...rules] } }),
  }
  return page.evaluate<Result[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
}

const toBarrier = ({ id, nodes }: Result): Barrier => [id, nodes.map(({ html }) => html)]

/** Finds all violations of a page as it stands. */
export const allBarriersNow = async (page: Page): Promise<Barrier[]> =>
  (await violationsOf(page)).map(toBarrier)

/** Finds the serious violations of a page as it stands; those of `rules`, or of all rules. */
export const barriersNow = async (page: Page, rules?: readonly string[]): Promise<Barrier[]> => {
  const violations = await violationsOf(page, rules)
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return serious.map(toBarrier)
}

/** Shows a page in these colors, which it takes on a moment after the browser has them. */
export async function showIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  const shown = page.locator(`html[data-mantine-color-scheme=${colorScheme}]`)
  await shown.waitFor({ state: 'attached' })
}

/** The rules whose findings depend on the colors. */
export const aboutColors = ['color-contrast', 'link-in-text-block']

/** Finds the barriers of a page: by all rules in dark colors, by those about colors in light ones. */
export async function barriersOf(page: Page): Promise<unknown[]> {
  await showIn(page, 'dark')
  await page.waitForLoadState('networkidle')
  const dark = await barriersNow(page)
  await showIn(page, 'light')
  const light = await barriersNow(page, aboutColors)
  return [...dark.map((one) => ['dark', ...one]), ...light.map((one) => ['light', ...one])]
}
