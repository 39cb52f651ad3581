import { openMarket } from './market'
import { call, listIn } from './requests'
import type { Json } from '../../harness/http'
import { forFile } from '../../harness/for-file'
import type { Customer, Gateway } from '../../harness/server'

const newReader = (gateway: Gateway) =>
  gateway.customer({ permissions: ['read', 'write'] }, { credit: 0 })

async function open() {
  const gateway = await openMarket()
  return { gateway, reader: await newReader(gateway) }
}

/** The market for all tests of the file that calls this, and an account that reads it. */
export function useMarketFixture() {
  const fixture = forFile(open, async ({ gateway }) => {
    gateway.recorder.verify()
    await gateway[Symbol.asyncDispose]()
  })
  const api = (by: Pick<Customer, 'key'>, request: string, body?: Json) =>
    call(fixture().gateway, by, request, body)
  return {
    fixture,
    api,
    newCustomer: () => newReader(fixture().gateway),
    idsOf: async (query: string, by: Customer = fixture().reader) =>
      listIn(await api(by, `GET /models?${query}`), 'models').map(({ id }) => id),
  }
}
