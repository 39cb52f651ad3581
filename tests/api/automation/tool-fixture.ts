import { afterEach } from 'bun:test'
import { join } from 'node:path'
import { createSessionClient, type SessionClient } from './talk'
import { startToolServer } from './tool-server'
import { assignGateway } from './with-gateway'
import type { Json } from '../../harness/http'
import { forFile } from '../../harness/for-file'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { startBilling } from '../../harness/ledger'
import { internalUrl, scrapeWhenBooked } from '../../harness/scrape'
import type { Customer } from '../../harness/server'

async function open() {
  const tools = startToolServer()
  const billing = await startBilling({
    preload: join(import.meta.dir, 'preloads/tools-by-http.ts'),
    environment: { TOOLS_URL: tools.url, METRICS_PORT: '0' },
  })
  const customer = await billing.rig.gateway.customer({}, { credit: 1 })
  return { tools, billing, customer, talk: createSessionClient(billing.rig.gateway, customer) }
}

/** A till, one talk, and tools of the test's own, for all tests of the file that calls this. */
export function useToolFixture() {
  const fixture = forFile(open, async ({ billing, tools }) => {
    await scrapeWhenBooked(await internalUrl(billing.rig.gateway))
    billing.rig.gateway.recorder.verify()
    await expectSoundLedger(billing.sql)
    await billing[Symbol.asyncDispose]()
    await tools[Symbol.asyncDispose]()
  })
  afterEach(() => {
    fixture().tools.reset()
    fixture().billing.rig.upstream.reset()
  })
  return {
    fixture,
    /** A session whose model is `fake/<name>` and whose tools are those of the test. */
    session: async (
      name: string,
      fields: Json = {},
      by: SessionClient = fixture().talk,
    ): Promise<string> => {
      const { rig, sql } = fixture().billing
      const id = await by.session({ modelId: await rig.model(name), ...fields })
      await assignGateway(sql, id)
      return id
    },
    /** What the model was asked, oldest first. */
    sent: () =>
      fixture()
        .billing.rig.upstream.requests()
        .map(({ body }): Json => (typeof body === 'object' ? { ...body } : {})),
    /** What an account's requests came to, oldest first. */
    events: async ({ userId }: Customer) => {
      const { rig, sql } = fixture().billing
      await scrapeWhenBooked(await internalUrl(rig.gateway))
      const found: { request_id: string; cost: string; outcome: string }[] = await sql`
        select request_id, cost, outcome from usage_event where account_id = ${userId}
        order by started_at`
      return found
    },
  }
}
