import { afterEach } from 'bun:test'
import { join } from 'node:path'
import { talking, type Talking } from './talk'
import { startToolServer } from './tool-server'
import { giveGateway } from './with-gateway'
import type { Json } from '../faults/asking'
import { forFile } from '../for-file'
import { expectSoundLedger } from '../money/ledger-oracle'
import { allBooked, openTill } from '../money/till'
import type { Customer } from '../rig'

async function open() {
  const tools = startToolServer()
  const till = await openTill({
    preload: join(import.meta.dir, 'preloads/tools-by-http.ts'),
    environment: { TOOLS_URL: tools.url },
  })
  const customer = await till.rig.gateway.customer({}, { credit: 1 })
  return { tools, till, customer, talk: talking(till.rig.gateway, customer) }
}

/** A till, one talk, and tools of the test's own, for all tests of the file that calls this. */
export function toolStage() {
  const stage = forFile(open, async ({ till, tools }) => {
    await allBooked(till.sql)
    till.rig.gateway.recorder.verify()
    await expectSoundLedger(till.sql)
    await till[Symbol.asyncDispose]()
    await tools[Symbol.asyncDispose]()
  })
  afterEach(() => {
    stage().tools.reset()
    stage().till.rig.upstream.reset()
  })
  return {
    stage,
    /** A session whose model is `fake/<name>` and whose tools are those of the test. */
    session: async (
      name: string,
      fields: Json = {},
      by: Talking = stage().talk,
    ): Promise<string> => {
      const { rig, sql } = stage().till
      const id = await by.session({ modelId: await rig.model(name), ...fields })
      await giveGateway(sql, id)
      return id
    },
    /** What the model was asked, oldest first. */
    sent: () =>
      stage()
        .till.rig.upstream.seen()
        .map(({ body }): Json => (typeof body === 'object' ? { ...body } : {})),
    /** What an account's requests came to, oldest first. */
    events: async ({ userId }: Customer) => {
      const { sql } = stage().till
      await allBooked(sql)
      const found: { request_id: string; cost: string; outcome: string }[] = await sql`
        select request_id, cost, outcome from usage_event where account_id = ${userId}
        order by started_at`
      return found
    },
  }
}
