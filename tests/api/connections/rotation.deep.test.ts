import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import {
  allowLoopback,
  call,
  idIn,
  createCustomer,
  upstreamEnvironment,
  startUpstream,
} from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { newDataDir, startGateway, type Customer } from '../../harness/server'
import { runCommand } from '../../harness/run-command'

const newKey = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')

const upstream = startUpstream()
const dataDir = await newDataDir('started')
afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

const rotate = (keys: string) =>
  runCommand('rotate-keys', { DATA_DIR: dataDir, ENCRYPTION_KEY: keys })

const start = (keys: string) =>
  startGateway({ dataDir, environment: { ...upstreamEnvironment(upstream), ENCRYPTION_KEY: keys } })

test('K07: the key is changed while the server runs, and the old one is not needed any more', async () => {
  const [old, young] = [newKey(), newKey()]
  let customer: Customer
  const both = `young:${young},old:${old}`
  const call200 = async (gateway: Awaited<ReturnType<typeof start>>) => {
    const body = { model: 'fake/one', messages }
    return (await sendRequest(gateway, { key: customer.key, body })).status
  }
  {
    await using gateway = await start(old)
    await allowLoopback(gateway)
    await gateway.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
    const model = { id: 'fake/one', name: 'One', category: 'chat', is_free: true }
    await gateway.admin('POST', '/models', model)
    customer = await createCustomer(gateway)
    const fields = { name: 'Mine', provider: 'fake', api_key: 'sk-one' }
    const own = { ...fields, endpoint_url: upstream.url }
    idIn(await call(gateway, customer, 'POST /connections', own))
    expect(await call200(gateway)).toBe(200)
  }
  {
    await using gateway = await start(both)
    expect(await call200(gateway)).toBe(200)
    expect(await rotate(both)).toEqual({
      // Beside the connection's there is the one of provider identifiers.
      out: '2 secrets are now wrapped by the key "young".\n',
      err: '',
      code: 0,
    })
    expect(await call200(gateway)).toBe(200)
    await using sql = await openDatabase(dataDir)
    expect(await sql`select secret_key_id from connection`).toEqual([{ secret_key_id: 'young' }])
  }
  // While nothing runs, it starts the database itself.
  const again = await rotate(both)
  expect([again.code, again.out]).toEqual([0, '0 secrets are now wrapped by the key "young".\n'])
  {
    await using gateway = await start(`young:${young}`)
    expect(await call200(gateway)).toBe(200)
  }
  await expect(start(old)).rejects.toThrow('ENCRYPTION_KEY is not the one')
})
