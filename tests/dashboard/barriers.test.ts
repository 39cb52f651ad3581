import { afterAll, beforeAll, expect, test } from 'bun:test'
import { pages } from './every-page'
import { barriersOf, startSignedIn, type SignedIn } from './signed-in'

let ada: SignedIn

beforeAll(async () => {
  ada = await startSignedIn()
  await ada.operate()
})
afterAll(() => ada[Symbol.asyncDispose]())

test.each(pages)(
  '%s (%s) has no accessibility barrier, in dark and light colours',
  async (path, heading) => {
    const page = await ada.open(path)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    // One page for both: loading it takes longer than looking at it.
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  },
)
