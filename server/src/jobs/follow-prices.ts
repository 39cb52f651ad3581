import { priceSlot } from '../catalog/built-in'
import type { Catalog } from '../catalog/catalog'
import { Periodic } from '../platform/periodic'

const intervalMs = 5000

/** The refresh of the catalogue whenever a scheduled price begins. */
export function createPriceSchedule(catalog: Pick<Catalog, 'refreshSoon'>): Periodic {
  let slot = priceSlot(Date.now())
  return new Periodic({
    intervalMs,
    run: () => {
      const now = priceSlot(Date.now())
      if (now !== slot) catalog.refreshSoon()
      slot = now
    },
  })
}
