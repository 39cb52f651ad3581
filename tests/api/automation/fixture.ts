import { afterEach } from 'bun:test'
import { createSessionClient } from './talk'
import { forFile } from '../../harness/for-file'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { startBilling } from '../../harness/ledger'
import { internalUrl, scrapeWhenBooked } from '../../harness/scrape'

async function open() {
  const billing = await startBilling({ environment: { METRICS_PORT: '0' } })
  const customer = await billing.rig.gateway.customer({}, { credit: 1 })
  return { billing, customer, talk: createSessionClient(billing.rig.gateway, customer) }
}

/** A till for all tests of the file that calls this, whose ledger is in order at the end, and one talk. */
export function useSessionFixture() {
  const fixture = forFile(open, async ({ billing }) => {
    await scrapeWhenBooked(await internalUrl(billing.rig.gateway))
    billing.rig.gateway.recorder.verify()
    await expectSoundLedger(billing.sql)
    await billing[Symbol.asyncDispose]()
  })
  afterEach(() => fixture().billing.rig.upstream.reset())
  return {
    fixture,
    billing: () => fixture().billing,
    talk: () => fixture().talk,
    model: (name: string) => fixture().billing.rig.model(name),
  }
}
