import { afterEach } from 'bun:test'
import { talking } from './talk'
import { forFile } from '../for-file'
import { expectSoundLedger } from '../money/ledger-oracle'
import { allBooked, openTill } from '../money/till'

async function open() {
  const till = await openTill()
  const customer = await till.rig.gateway.customer({}, { credit: 1 })
  return { till, customer, talk: talking(till.rig.gateway, customer) }
}

/** A till for all tests of the file that calls this, whose ledger is in order at the end, and one talk. */
export function talkStage() {
  const stage = forFile(open, async ({ till }) => {
    await allBooked(till.sql)
    till.rig.gateway.recorder.verify()
    await expectSoundLedger(till.sql)
    await till[Symbol.asyncDispose]()
  })
  afterEach(() => stage().till.rig.upstream.reset())
  return {
    stage,
    till: () => stage().till,
    talk: () => stage().talk,
    model: (name: string) => stage().till.rig.model(name),
  }
}
