import { describe, expect, test } from 'bun:test'
import { coreFolders, findAll, findRejected, readList, sourceFiles } from './names'

/** A reader searches for the noun: `knownKey`, not `known`. */
describe('names in server/src, cli and connect', () => {
  test('name their value, except for as many in each file as the list has', async () => {
    const rejected = await findAll()
    const listed = await readList()
    const complaints = [...new Set([...Object.keys(rejected), ...Object.keys(listed)])].flatMap(
      (path) => {
        const names = rejected[path] ?? []
        const allowed = listed[path] ?? 0
        if (names.length > allowed) return [...names, `${path}: ${allowed} of these are allowed`]
        if (names.length < allowed) {
          return `${path} has ${names.length}, fewer than the ${allowed} of tests/name-exceptions.json, which is to be shortened: node bin/tollgate.mjs run tests/names.ts`
        }
        return []
      },
    )
    expect(complaints).toEqual([])
  })

  test('have no exceptions in the folders of a request, and below 100 elsewhere', async () => {
    const listed = Object.entries(await readList())
    const core = coreFolders.map((folder) => `server/src/${folder}/`)
    expect(listed.filter(([path]) => core.some((folder) => path.startsWith(folder)))).toEqual([])
    expect(listed.reduce((sum, [, count]) => sum + count, 0)).toBeLessThan(100)
  })

  test('are read from all sources, and from no tests or migrations', async () => {
    const found = await sourceFiles()
    expect(found.length).toBeGreaterThan(1000)
    expect(new Set(found.map((path) => path.split('/')[0]))).toEqual(
      new Set(['cli', 'connect', 'server']),
    )
    expect(found.filter((path) => /\.test\.ts$|migrations\//.test(path))).toEqual([])
  })
})

const rejectedIn = (source: string, path = 'server/src/gateway/example.ts'): string[] =>
  findRejected(path, source).map((one) => one.split(': ')[1] ?? '')

describe('the rule on names', () => {
  test.each([
    ['const known = find()', ['known']],
    ['function take(sent: string, given?: Answer) {}', ['sent', 'given']],
    ['const { body: asked } = call', ['asked']],
    ['const [kept = 0, ...left] = list', ['kept', 'left']],
    ['class Cache { #held = 0; get found() { return 1 } }', ['held', 'found']],
    ['interface Call { missing: string[]; called(): void }', ['missing', 'called']],
    ['type Step = { told: string } | ((seen: number) => void)', ['told', 'seen']],
    ['const mostAttempts = 2, longestWaitMs = 5', ['mostAttempts', 'longestWaitMs']],
    ['const patienceMs = 5; let usualPatience = 3', ['patienceMs', 'usualPatience']],
    ['function tellOrigin(nobody: Caller, keyring: Keys) {}', ['tellOrigin', 'nobody', 'keyring']],
    ['const read = await body()', ['read']],
  ])('rejects names in: %s', (source, names) => {
    expect(rejectedIn(source)).toEqual(names)
  })

  test.each([
    ['const knownKey = find(), isSent = true, heldAmount = 0n'],
    ['const { sent, known } = provider.fields'],
    ['const body = { known: 1, sent: 2 }'],
    ['// known\nconst text = "sent"'],
    ['const read = () => 1; interface Port { read: () => string; cut(): void }'],
    ['interface KeyRow { known: string }'],
    ['const rows = await sql<{ taken: bigint }>`select`'],
    ['interface Finding { found: bigint }\nconst query = sql<Finding>`select`'],
  ])('accepts: %s', (source) => {
    expect(rejectedIn(source)).toEqual([])
  })

  test('rejects further participles in the folders of a request only', () => {
    expect(rejectedIn('const settled = 1')).toEqual(['settled'])
    expect(rejectedIn('const settled = 1', 'server/src/wire/example.ts')).toEqual([])
  })
})
