import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { looserInNode } from './looser-in-node'
import { onlyInNode18 } from './node-18'
import { stricterInNode } from './stricter-in-node'
import type { Vector } from './vector'
import { titleOf, vectors } from './vectors'

// Nearly eight hundred answers, one after the other, by a process of its own.
setDefaultTimeout(120_000)

const differences = [...looserInNode, ...stricterInNode]

interface NodeOutcome {
  verdict: 'accepted' | 'rejected' | 'waiting' | 'upgraded'
  status?: number
  body?: string
  isReusable?: boolean
}

/** Gives all vectors to the client of the machine's Node, which is no part of Bun. Throws where there is none. */
async function askNode(): Promise<{ major: number; outcomes: NodeOutcome[] }> {
  const child = Bun.spawn(['node', join(import.meta.dir, 'node-client.mjs')], {
    stdin: Buffer.from(JSON.stringify(vectors)),
    stderr: 'inherit',
  })
  const { version, outcomes } = JSON.parse(await new Response(child.stdout).text())
  return { major: Number.parseInt(version, 10), outcomes }
}

/** How Node differs from the table; undefined where it does not. */
function differenceOf({ outcome }: Vector, node: NodeOutcome): string | undefined {
  const verdict = outcome === 'rejected' ? 'rejected' : 'accepted'
  if (verdict !== node.verdict) return node.verdict
  if (outcome === 'rejected') return undefined
  if (outcome.status !== node.status || outcome.body !== node.body) return 'another answer'
  if (outcome.isReusable === node.isReusable) return undefined
  return node.isReusable ? 'reused' : 'closed'
}

/** Each listed vector of differences that this version of Node still has. */
const listedFor = (major: number) =>
  differences
    .filter(({ until = Infinity }) => major < until)
    .flatMap(({ node, cases }) =>
      Object.entries(cases).flatMap(([source, names]) =>
        vectors
          .filter((each) => each.source === source)
          .filter(({ name }) => names === 'all' || names.includes(name))
          .map((vector) => `${titleOf(vector)}: ${node}`),
      ),
    )

test('every case of the table of differences is a vector', () => {
  const titles = new Set(vectors.map(titleOf))
  const sources = new Set(vectors.map(({ source }) => source))
  const unknown = differences.flatMap(({ cases }) =>
    Object.entries(cases).flatMap(([source, names]) => {
      if (names === 'all') return sources.has(source) ? [] : [source]
      return names.map((name) => titleOf({ source, name })).filter((title) => !titles.has(title))
    }),
  )
  expect(unknown).toEqual([])
})

test('Node does the same with every answer, but for the differences that the table has reasons for', async () => {
  const { major, outcomes } = await askNode()
  expect(outcomes).toHaveLength(vectors.length)
  const found = vectors.flatMap((vector, at) => {
    const node = outcomes[at]
    const difference = node && differenceOf(vector, node)
    return difference === undefined ? [] : [`${titleOf(vector)}: ${difference}`]
  })
  const listed = listedFor(major)
  // The parser of Node 18 was looser in places, and stricter in none.
  if (major >= 20) return expect(found.toSorted()).toEqual(listed.toSorted())
  const known = new Set([...listed, ...onlyInNode18])
  expect(found.filter((each) => !known.has(each))).toEqual([])
})
