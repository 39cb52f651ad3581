import { expect, test } from 'bun:test'
import { priceGroups, priceParts } from './prices'

test('finding B18: every rate of a price is in one group of the form', () => {
  const grouped = priceGroups.flatMap(([, parts]): string[] => [...parts])
  expect(grouped.toSorted()).toEqual(priceParts.map(([part]) => part).toSorted())
})
