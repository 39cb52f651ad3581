import type { Locator } from 'playwright-core'

const attempts = 6
const attemptMs = 5000

/**
 * Opens a list and chooses from it. A list that closed again, as its page was still loading, is opened again: what moves
 * while a page loads has tests of its own.
 */
export async function choose(
  list: Locator,
  option: { name: string | RegExp; exact?: boolean },
): Promise<void> {
  const item = list.page().getByRole('option', option)
  for (let attempt = 1; ; attempt += 1) {
    if ((await list.getAttribute('aria-expanded')) !== 'true') await list.click()
    try {
      return await item.click({ timeout: attemptMs })
    } catch (error) {
      if (attempt === attempts) throw error
    }
  }
}
