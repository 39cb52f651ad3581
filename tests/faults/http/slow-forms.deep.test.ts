import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parsed } from '../../harness/http'
import { openRaw, rawRequest } from '../../harness/raw-client'
import { accountOf, startBilling } from '../../harness/ledger'
import { eventually } from '../../../server/testing/eventually'

// A form has twenty seconds before it has to arrive at a minimum rate.
setDefaultTimeout(120_000)

const credit = 10_000_000_000n
const doors = [
  ['/v1/audio/transcriptions', 'file'],
  ['/v1/audio/translations', 'file'],
  ['/v1/images/edits', 'image'],
  ['/v1/images/variations', 'image'],
] as const

test('a form that stops arriving is rejected at every endpoint with a file, and costs nothing', async () => {
  await using billing = await startBilling()
  const { gateway, upstream } = billing.rig
  const customer = await billing.customer(credit)
  const headers = {
    authorization: `Bearer ${customer.key}`,
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': '900000',
  }
  const uploads = () => readdir(join(gateway.dataDir, 'uploads'))
  const sendSlowly = async ([path, field]: (typeof doors)[number]) => {
    using client = await openRaw(gateway.url)
    await client.send(rawRequest({ path, headers }))
    const disposition = `content-disposition: form-data; name="${field}"; filename="a"`
    await client.send(`--b\r\n${disposition}\r\n\r\n${'x'.repeat(5000)}`)
    await client.until((received) => received.includes('}}'))
    const { status, body } = await client.response()
    const { error } = parsed(body.toString())
    expect(error).toMatchObject({ param: field, message: expect.stringContaining('too slowly') })
    return [path, status]
  }
  const answers = await Promise.all(doors.map(sendSlowly))
  expect(answers).toEqual(doors.map(([path]) => [path, 400]))
  await eventually(async () => (await uploads()).length === 0)
  expect(upstream.requestCount()).toBe(0)
  expect(await accountOf(billing.sql, customer)).toMatchObject({ posted: credit })
})
