import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createStripeEventReader } from './stripe'

const secret = 'whsec_simulated_0123456789'
const nowSeconds = 1_800_000_000

test.each([
  [-301, false],
  [-300, true],
  [-299, true],
  [0, true],
  [299, true],
  [300, true],
  [301, false],
])('T05: an event signed %d s from now is taken: %p', async (offset, isTaken) => {
  const events = createStripeEventReader(
    { secretKey: 'sk_test_1234567890', webhookSecrets: ['whsec_another_0123456789', secret] },
    () => nowSeconds * 1000 + 999,
  )
  const body = JSON.stringify({ id: 'evt_1', object: 'event', type: 'x', data: { object: {} } })
  const at = nowSeconds + offset
  const hash = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  const verified = events.verify(Buffer.from(body), `t=${at},v1=${hash}`)
  if (isTaken) expect(await verified).toMatchObject({ id: 'evt_1' })
  else {
    await expect(verified).rejects.toMatchObject({
      code: 'invalid_request',
      details: { issue: 'bad_signature' },
    })
  }
})

/** A header that has a good signature of some time, however often it tells one. */
const header = (body: string, signed: number, times: (at: number) => string) => {
  const hash = createHmac('sha256', secret).update(`${signed}.${body}`).digest('hex')
  return `${times(signed)},v1=${hash}`
}

test.each([
  ['two times, the good one last', (at: number) => `t=${nowSeconds},t=${at}`],
  ['two times, the good one first', (at: number) => `t=${at},t=${nowSeconds}`],
  ['a sign', (at: number) => `t=+${at}`],
  ['a blank', (at: number) => `t= ${at}`],
])('T05: %s rejects an event dated ahead as well', async (_how, times) => {
  const events = createStripeEventReader(
    { secretKey: 'sk_test_1234567890', webhookSecrets: [secret] },
    () => nowSeconds * 1000,
  )
  const body = JSON.stringify({ id: 'evt_1', object: 'event', type: 'x', data: { object: {} } })
  const verified = events.verify(Buffer.from(body), header(body, nowSeconds + 86_400, times))
  await expect(verified).rejects.toMatchObject({ details: { issue: 'bad_signature' } })
})
