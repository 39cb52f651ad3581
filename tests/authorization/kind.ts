import { unused } from '../connections/organization'
import { call, idIn, type Stage } from '../connections/stage'
import type { Json } from '../faults/asking'
import type { Customer } from '../rig'

/** Something that a path can name: all ids of the path, whose it is, and who may see it only. */
export interface Made {
  ids: string[]
  owner: Customer
  /** Belongs to the organization whose it is, and may change nothing there. */
  viewer?: Customer
}

/** How something is made whose id a path can hold. Each call makes another one, of another owner. */
export interface Kind {
  make: (stage: Stage) => Promise<Made>
  /** The last id of one that never was; by itself made of the one that is. */
  unknown?: string
  /** Whoever may call the route sees it; nobody's is foreign. */
  isEverybodys?: boolean
}

/** What its owner makes with one request. */
export const owned = (request: string, body: () => Json): Kind => ({
  async make(stage) {
    const owner = await stage.somebody()
    return { owner, ids: [idIn(await call(stage.gateway, owner, request, body()))] }
  },
})

/** A name that nobody has used, of what names are made of that models are called by. */
export const unusedName = (words: string) =>
  unused(words)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')

/** A collection to be made. */
export const collection = () => ({
  name: unusedName('some'),
  display_name: 'Some',
  members: [{ model_id: 'sandbox/echo' }],
})
