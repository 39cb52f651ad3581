import { describe, expect, test } from 'bun:test'
import { adviceFor, allNames, namesIn, readExceptions } from './test-names'

describe('names of tests', () => {
  test('are in the field’s words: subject, verb, result', async () => {
    const exceptions = await readExceptions()
    const complaints = (await allNames()).flatMap(({ path, name }) => {
      const advice = adviceFor(name)
      const isException = exceptions[path]?.includes(name) ?? false
      return advice.length === 0 || isException ? [] : [`${path}: ${name}: ${advice.join('; ')}`]
    })
    expect(complaints).toEqual([])
  })

  test('leave the list of exceptions once they are rewritten: tests/test-names.ts --list', async () => {
    const names = await allNames()
    const unused = Object.entries(await readExceptions()).flatMap(([path, listed]) =>
      listed.filter(
        (name) =>
          adviceFor(name).length === 0 ||
          !names.some((each) => each.path === path && each.name === name),
      ),
    )
    expect(unused).toEqual([])
  })

  test('are found in every file, thousands of them', async () => {
    const names = await allNames()
    expect(names.length).toBeGreaterThan(5500)
    expect(new Set(names.map(({ path }) => path)).size).toBeGreaterThan(900)
  })
})

describe('the reader finds the name of', () => {
  test.each([
    ["test('a', () => {})", ['a']],
    [
      "describe('a key', () => {\n  test(\n    'is rejected',\n    async () => {})",
      ['a key', 'is rejected'],
    ],
    ["test.if(isWhole)('a', () => {})", ['a']],
    ["test.skipIf(find() === undefined)('a (needs b)', () => {})", ['a (needs b)']],
    ["test.each([1, 2])('%p is b', (each) => {})", ['%p is b']],
    [
      "test.each([\n  ['the caller leaves early', f],\n])('%s', (_, f) => {})",
      ['%s', 'the caller leaves early'],
    ],
    ['test(`${kills} kills`, () => {})', ['${kills} kills']],
  ])('%j', (source, names) => {
    expect(namesIn(source)).toEqual(names)
  })
})

describe('a name is rejected', () => {
  test.each([
    'nobody is there',
    'finding C3: what is kept is replayed',
    'I1, I2: whoever calls',
    '21.3: where a pool pays',
    '%s: who is rejected',
    'the account is told its balance',
    'the provider is asked once',
    'a request without a key says so',
    'an empty list is none',
    'and its owner',
    'an account keeps what it owns',
    'ends once, whatever is sent',
    'the caller gets an error',
    '%j is no handle',
    'a refusal says why',
    'a model that is not there is 404',
    'a request is refused',
  ])('%j', (name) => {
    expect(adviceFor(name)).not.toEqual([])
  })

  test.each([
    'the client receives 429 with the reset time',
    'I7: unused credit of another node is recalled at once',
    'finding V9: an event above the limit is rejected',
    'is rejected after its end',
    '%s is rejected if it is empty',
  ])('not %j', (name) => {
    expect(adviceFor(name)).toEqual([])
  })
})
