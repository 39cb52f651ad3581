import { expect, test } from 'bun:test'
import { runScheduled } from './schedule'

test('an item that is alone has nothing beside it, the others run two at a time, results keep their order', async () => {
  const running = new Set<string>()
  const seen: string[] = []
  const items = [
    { name: 'alone 1', isAlone: true },
    { name: 'a' },
    { name: 'b' },
    { name: 'c' },
    { name: 'alone 2', isAlone: true },
    { name: 'd' },
  ]
  const results = await runScheduled(items, 2, async ({ name }) => {
    running.add(name)
    seen.push([...running].join('+'))
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    running.delete(name)
    return name
  })
  expect(results).toEqual(items.map(({ name }) => name))
  expect(seen).toEqual([
    'alone 1',
    'a',
    'a+b',
    expect.stringMatching(/^([ab]\+)?c$/),
    'alone 2',
    'd',
  ])
})
