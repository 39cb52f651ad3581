import { expect, test } from 'bun:test'
import { historyShape, parseStored, weigh } from './stored-json'
import { ShapeExceeded } from '../wire/json-shape'

test('finding S21: objects, lists and names weigh, and a quarter of the other values in lists', () => {
  expect(weigh('text')).toBe(0)
  expect(weigh({})).toBe(1)
  expect(weigh({ a: 1, b: { c: [] } })).toBe(1 + 2 + 1 + 1 + 1)
  expect(weigh([[], [], {}])).toBe(4)
  expect(weigh([1, 'two', null, true])).toBe(2)
})

const never = () => Promise.resolve()

test('finding S21: stored texts are counted together before they are built', async () => {
  const heavy = `[${'[],'.repeat(99_999)}[]]`
  const light = `[${'[],'.repeat(90_000)}[]]`
  expect(await parseStored([light, light], historyShape, never)).toHaveLength(2)
  const reading = parseStored([heavy, heavy], historyShape, never)
  await expect(reading).rejects.toBeInstanceOf(ShapeExceeded)
})

test('finding S21: a text within the weight of a history can be read again', async () => {
  const numbers = `[${'0,'.repeat(790_000)}0]`
  const parsed: unknown[] = await parseStored([numbers], historyShape, never)
  expect(weigh(parsed)).toBeLessThan(historyShape.maxNodes)
  const names = `{${Array.from({ length: 9000 }, (_, at) => `"k${at}":0`).join()}}`
  const objects = await parseStored(
    Array.from({ length: 22 }, () => names),
    historyShape,
    never,
  )
  expect(weigh(objects)).toBeLessThan(historyShape.maxNodes)
})
