import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, listIn, waitFor, type Fixture } from '../alerts/fixture'
import { idIn } from '../../harness/byok'
import { messages, request, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

let fixture: Fixture

beforeAll(async () => {
  await untilDayLasts()
  // Rounds never come: what is notified follows from a booking, or from a change.
  fixture = await createFixture({ ALERT_SECONDS: '3600' })
}, 30_000 + dayWaitMs)
afterAll(() => fixture[Symbol.asyncDispose]())

const newOwner = () => fixture.rig.gateway.customer({ permissions: ['read', 'write', 'admin'] })

const createBudget = async (owner: Customer, fields: Json) =>
  idIn(
    await fixture.api(owner, 'POST /account/budgets', {
      name: 'Daily',
      unit: 'requests',
      window: 'day',
      ...fields,
    }),
  )

async function chat({ key }: Customer): Promise<number> {
  const { gateway, model } = fixture.rig
  const body = { model: await model('ok'), messages, max_tokens: 16 }
  return (await request(gateway, { key, body })).status
}

const change = (owner: Customer, id: string, fields: Json) =>
  fixture.api(owner, `PATCH /account/budgets/${id}`, fields)

/** Waits until a budget has notified of a percent in its current window. */
const untilNotified = (owner: Customer, id: string, percent: number) =>
  waitFor(async () => {
    const { body } = await fixture.api(owner, `GET /account/budgets/${id}`)
    return body['notified_percent'] === percent ? body : undefined
  })

const noticesOf = async (owner: Customer) =>
  listIn(await fixture.api(owner, 'GET /account/notifications'), 'notifications')

const titlesOf = async (owner: Customer) => (await noticesOf(owner)).map(({ title }) => title)

test('a soft budget rejects nothing, and notifies of each percent once, by inbox and mail', async () => {
  const owner = await newOwner()
  const id = await createBudget(owner, {
    amount: 2,
    enforcement: 'soft',
    notify_percents: [50, 150],
  })
  expect(await chat(owner)).toBe(200)
  await untilNotified(owner, id, 50)
  expect([await chat(owner), await chat(owner), await chat(owner)]).toEqual([200, 200, 200])
  const shown = await untilNotified(owner, id, 150)
  expect(shown).toMatchObject({ amount: 2, remaining: 0 })
  expect(await noticesOf(owner)).toMatchObject([
    { kind: 'budget', title: 'Budget at 150%: Daily', link: '/budgets' },
    { kind: 'budget', title: 'Budget at 50%: Daily', link: '/budgets' },
  ])
  const email = await fixture.emailOf(owner)
  const mails = await waitFor(async () => {
    const sent = fixture.mails.to(email)
    return sent.length === 2 ? sent : undefined
  })
  expect(mails[0]?.text).toContain('Your budget "Daily" has reached 50%.')
  expect(mails[0]?.text).toContain('It rejects no requests.')
})

test('a hard budget notifies and rejects, of several percents at once of the highest', async () => {
  const owner = await newOwner()
  const id = await createBudget(owner, { amount: 1, notify_percents: [50, 80, 100] })
  expect([await chat(owner), await chat(owner)]).toEqual([200, 429])
  await untilNotified(owner, id, 100)
  expect(await titlesOf(owner)).toEqual(['Budget at 100%: Daily'])
})

test('a changed percent or amount is evaluated at once, and a percent is notified again only where the use fell below it', async () => {
  const owner = await newOwner()
  const id = await createBudget(owner, { amount: 2, enforcement: 'soft' })
  expect([await chat(owner), await chat(owner)]).toEqual([200, 200])
  await waitFor(async () => {
    const { body } = await fixture.api(owner, `GET /account/budgets/${id}`)
    return body['used'] === 2 ? body : undefined
  })
  await change(owner, id, { notify_percents: [80] })
  await untilNotified(owner, id, 80)
  // Four fifths are used still.
  await change(owner, id, { notify_percents: [90, 80] })
  await untilNotified(owner, id, 90)
  const halved = await change(owner, id, { amount: 4 })
  expect(halved.body).toMatchObject({ used: 2, notified_percent: 50 })
  expect([await chat(owner), await chat(owner)]).toEqual([200, 200])
  await untilNotified(owner, id, 90)
  const moved = await change(owner, id, { window: 'year' })
  expect(moved.body).toMatchObject({ window: 'year' })
  await untilNotified(owner, id, 90)
  const [last, again, ...earlier] = await titlesOf(owner)
  expect([last, again]).toEqual(['Budget at 90%: Daily', 'Budget at 90%: Daily'])
  expect(earlier.at(-1)).toBe('Budget at 80%: Daily')
})

test('a soft budget does not limit its key: the key changes budgets', async () => {
  const owner = await newOwner()
  const id = await createBudget(owner, { amount: 1, enforcement: 'soft', key_id: owner.keyId })
  expect((await change(owner, id, { amount: 2 })).status).toBe(200)
})
