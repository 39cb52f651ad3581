import type { CatalogEntryRow } from '../../src/catalog/catalog-file'
import { firstClass, makers } from './first-class'
import type { Merged } from './merge'

interface News {
  /** Models of makers that the catalogue lacks. */
  flagships: CatalogEntryRow[]
  /** Those of first-class hosts. */
  others: CatalogEntryRow[]
}

const providerOf = (id: string) => id.slice(0, id.indexOf('/'))

/** Finds the models of first-class providers that newer sources have, and the catalogue has not. */
export function findNews(known: ReadonlySet<string>, merged: readonly Merged[]): News {
  const entries = merged
    .map(({ entry }) => entry)
    .filter(({ id }) => firstClass.has(providerOf(id)) && !known.has(id))
  const [flagships, others] = [true, false].map((isMaker) =>
    entries.filter(({ id }) => makers.has(providerOf(id)) === isMaker),
  )
  return { flagships: flagships ?? [], others: others ?? [] }
}

/** Formats a model with its price, in USD per million tokens. */
export const formatNews = ({ id, price }: CatalogEntryRow): string =>
  price ? `${id}: ${price.input}/${price.output ?? 0}` : `${id}: without a price`
