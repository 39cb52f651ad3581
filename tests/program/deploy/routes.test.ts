import { expect, test } from 'bun:test'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readConfig } from '../../../server/src/platform/config/config'

const folder = join(import.meta.dir, '../../../deploy')
const read = (path: string) => readFile(join(folder, path), 'utf8')
const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1])
const { timers } = readConfig({})

const documentsOf = async (path: string) =>
  (await read(path)).split(/^---$/m).map((it) => z.looseObject({}).parse(Bun.YAML.parse(it)))

test('finding N19: a route of Gateway API leads to the service, and waits longer than Tollgate does', async () => {
  const Rule = z.object({
    matches: z.tuple([z.object({ path: z.object({ type: z.string(), value: z.string() }) })]),
    timeouts: z.object({ request: z.string() }),
    backendRefs: z.tuple([z.object({ name: z.string(), port: z.number() })]),
  })
  const Gateway = z.object({
    metadata: z.object({ name: z.string() }),
    spec: z.object({ listeners: z.tuple([z.object({ hostname: z.string() })]) }),
  })
  const Parents = z.tuple([z.object({ name: z.string() })])
  const Route = z.object({
    spec: z.object({
      parentRefs: Parents,
      hostnames: z.tuple([z.string()]),
      rules: z.array(Rule),
    }),
  })
  const documents = await documentsOf('kubernetes-routes/http-route.yaml')
  expect(documents.map(({ kind }) => kind)).toEqual(['Gateway', 'HTTPRoute'])
  const gateway = Gateway.parse(documents[0])
  const { spec } = Route.parse(documents[1])
  expect(spec.parentRefs[0].name).toBe(gateway.metadata.name)
  expect(spec.hostnames[0]).toBe(gateway.spec.listeners[0].hostname)
  const Ports = z.object({
    metadata: z.object({ name: z.string() }),
    spec: z.object({ ports: z.array(z.object({ port: z.number() })) }),
  })
  const service = Ports.parse((await documentsOf('kubernetes/services.yaml'))[0])
  for (const { backendRefs } of spec.rules) {
    expect(backendRefs).toEqual([
      { name: service.metadata.name, port: service.spec.ports[0]?.port ?? 0 },
    ])
  }
  const timeoutOf = (path: string) =>
    seconds(
      spec.rules.find(({ matches }) => matches[0].path.value === path)?.timeouts.request ?? '',
    )
  // None for a WebSocket, which stays open.
  expect(timeoutOf('/gateway')).toBe(0)
  expect(timeoutOf('/') * 1000).toBeGreaterThan(Math.max(timers.streamMs, timers.requestMs))
})

test('finding N19: no route for one controller is applied with the rest', async () => {
  const files = (await readdir(join(folder, 'kubernetes'))).filter((name) => name.endsWith('.yaml'))
  const texts = await Promise.all(files.map((name) => read(`kubernetes/${name}`)))
  expect(texts.filter((text) => /^kind: Ingress$/m.test(text))).toEqual([])
  const ingress = await documentsOf('kubernetes-routes/ingress.yaml')
  expect(ingress.map(({ kind }) => kind)).toEqual(['Ingress'])
})
