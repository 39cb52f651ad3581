import { openMarket } from './market'
import { call, listed } from './stage'
import type { Json } from '../faults/asking'
import { forFile } from '../for-file'
import type { Customer, Gateway } from '../rig'

const newReader = (gateway: Gateway) =>
  gateway.customer({ permissions: ['read', 'write'] }, { credit: 0 })

async function open() {
  const gateway = await openMarket()
  return { gateway, reader: await newReader(gateway) }
}

/** The market for all tests of the file that calls this, and somebody who looks at it. */
export function marketStage() {
  const stage = forFile(open, async ({ gateway }) => {
    gateway.recorder.verify()
    await gateway[Symbol.asyncDispose]()
  })
  const api = (by: Pick<Customer, 'key'>, request: string, body?: Json) =>
    call(stage().gateway, by, request, body)
  return {
    stage,
    api,
    somebody: () => newReader(stage().gateway),
    idsOf: async (query: string, by: Customer = stage().reader) =>
      listed(await api(by, `GET /models?${query}`), 'models').map(({ id }) => id),
  }
}
