// Writes what server/testing/formats has of each release: a small backup, with its keys.
// Run as: bun tests/program/backup/write-released.ts server/src/server/formats/backup-<version>.tar.gz
import { resolve } from 'node:path'
import { runCommand } from '../../harness/run-command'
import { openDatabase } from '../../harness/database'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { signUp } from '../../harness/browser-session'
import { eventually } from '../../../server/testing/eventually'

const messages = [{ role: 'user' as const, content: 'Hello!' }]

/** Something of each kind that money, secrets and sign-in are made of. */
async function fill(rig: Rig, customer: Customer): Promise<void> {
  const { gateway } = rig
  const model = await rig.model('ok')
  for (let sent = 0; sent < 3; sent++) {
    await customer.client.chat.completions.create({ model, messages })
  }
  const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' }
  const make = async (path: string, body: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const { status } = await fetch(gateway.url + path, init)
    if (status !== 201) throw new Error(`${path} was answered ${status}`)
  }
  const prompt = { title: 'Ünïcode\t\\N', content: 'Two\nlines, and a \\ between.' }
  await make('/api/user/prompts', prompt)
  await make('/api/organizations', { name: 'Ours' })
}

/** Resolves when the ledger has all of it. */
async function booked(rig: Rig, customer: Customer): Promise<void> {
  await using sql = await openDatabase(rig.gateway.dataDir)
  const count = async () => {
    const [row] = await sql`
      select count(*)::int as events from usage_event
      where user_id = ${customer.userId} and state = 'settled'`
    return row.events
  }
  await eventually(async () => (await count()) >= 3)
}

const [file = ''] = process.argv.slice(2)
await using rig = await startRig({ database: 'embedded' })
const permissions = { permissions: ['admin'] }
const customer = await rig.gateway.customer(permissions, { email: 'kept@example.com', credit: 5 })
await fill(rig, customer)
await booked(rig, customer)
{
  await using sql = await openDatabase(rig.gateway.dataDir)
  // What signs sessions is made with the first of them.
  await signUp(rig.gateway, sql, 'ada@example.com')
}
const settings = { DATA_DIR: rig.gateway.dataDir }
const { code, out, err } = await runCommand('backup', settings, resolve(file), '--with-keys')
if (code !== 0) throw new Error(err)
console.log(out)
