// Prints the objects that the gateway allocates for a plain chat request, by type, with money and limits and without.
// Run by: npm run bench allocations
import { countObjects, sumObjects } from './count-objects'

const complete = await countObjects()
const without = await countObjects('without-money.ts')
const line = (name: string, on: number, off: number) =>
  console.log([on, off].map((count) => count.toFixed(1).padStart(8)).join(''), name)
console.log('objects a plain chat request: everything on, without money and limits')
line('all', sumObjects(complete), sumObjects(without))
const types = [...complete].toSorted((a, b) => b[1] - a[1])
for (const [type, count] of types) line(type, count, without.get(type) ?? 0)
