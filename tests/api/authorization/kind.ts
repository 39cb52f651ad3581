import { uniqueName } from '../../harness/organization'
import { call, idIn, type Fixture } from '../../harness/byok'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** Something that a path can name: all ids of the path, whose it is, and who may see it only. */
export interface CreatedObject {
  ids: string[]
  owner: Customer
  /** Belongs to the organization whose it is, and may change nothing there. */
  viewer?: Customer
}

/** How something is made whose id a path can hold. Each call makes another one, of another owner. */
export interface Kind {
  make: (fixture: Fixture) => Promise<CreatedObject>
  /** The last id of one that never was; by itself made of the one that is. */
  unknown?: string
  /** Every caller of the route sees it: none is foreign. */
  isPublic?: boolean
}

/** What its owner makes with one request. */
export const ownedKind = (request: string, body: () => Json): Kind => ({
  async make(fixture) {
    const owner = await fixture.newCustomer()
    return { owner, ids: [idIn(await call(fixture.gateway, owner, request, body()))] }
  },
})

/** An unused name, of the characters that names of models have. */
export const unusedName = (text: string) =>
  uniqueName(text)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')

/** A collection to be made. */
export const collection = () => ({
  name: unusedName('some'),
  display_name: 'Some',
  members: [{ model_id: 'sandbox/echo' }],
})
