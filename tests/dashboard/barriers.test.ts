import { afterAll, beforeAll, expect, test } from 'bun:test'
import { pages } from './every-page'
import { barriersIn, startSignedIn, type SignedIn } from './signed-in'

let ada: SignedIn

beforeAll(async () => {
  ada = await startSignedIn()
  await ada.operate()
})
afterAll(() => ada[Symbol.asyncDispose]())

test.each(
  pages.flatMap((page) => (['light', 'dark'] as const).map((scheme) => [...page, scheme] as const)),
)('%s (%s) has nothing that keeps people out, in %s colours', async (path, heading, scheme) => {
  const page = await ada.open(path)
  await page.getByRole('heading', { name: heading, exact: true }).waitFor()
  expect(await barriersIn(page, scheme)).toEqual([])
  await page.close()
})
