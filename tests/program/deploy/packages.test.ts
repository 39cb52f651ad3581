import { describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { version, workspaces } from '../../../package.json'
import { readConfig } from '../../../server/src/platform/config/config'
import { variableNames } from '../../../server/src/platform/config/settings'
import { keepAliveSeconds } from '../../../server/src/http/keep-alive'
import { providers } from '../../../server/src/providers/registry'

const folder = join(import.meta.dir, '../../../deploy')
const read = (path: string) => readFile(join(folder, path), 'utf8')

/** What the words of YAML stand for, checked as far as the tests look at it. */
const yaml = <Shape extends z.ZodType>(text: string, shape: Shape) =>
  shape.parse(Bun.YAML.parse(text))

const known = new Set([...variableNames, ...providers.flatMap(({ keyVariables }) => keyVariables)])
const unknownOf = (names: readonly string[]) => names.filter((name) => !known.has(name))

const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1])
const { timers } = readConfig({})
const drainSeconds = timers.drainMs / 1000
/** The time after the requests: for sockets, unread answers, bookings. */
const closingSeconds = 15

describe('the image', async () => {
  const text = await read('Dockerfile')
  const instructions = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')

  test('uses exact tags, and runs as a numeric user other than root', () => {
    const images = [...text.matchAll(/^ARG \w+_IMAGE=(\S+)$/gm)].map(([, image]) => image)
    expect(images).toHaveLength(2)
    for (const image of images) expect(image).toMatch(/^[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+/)
    const last = instructions.findLastIndex((line) => line.startsWith('FROM '))
    const users = instructions.slice(last).filter((line) => line.startsWith('USER '))
    expect(users).toEqual(['USER 10001:10001'])
  })

  test('checks its health by its own program, at the port that it opens', () => {
    expect(text).toContain('CMD ["tollgate", "healthy"]')
    expect(text).toContain('ENTRYPOINT ["tollgate"]')
    const [, pairs = ''] = /^ENV (.*)$/m.exec(text) ?? []
    const variables = Object.fromEntries(pairs.split(' ').map((pair) => pair.split('=')))
    expect(unknownOf(Object.keys(variables))).toEqual([])
    expect(readConfig(variables)).toMatchObject({ host: '0.0.0.0', port: 8080 })
    expect(text).toMatch(/^EXPOSE 8080 /m)
  })

  const copied = instructions
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
    .flatMap((line) => line.split(/\s+/).slice(1, -1))

  test.each(workspaces)('contains the npm packages of the workspace %s', (workspace) => {
    expect(copied).toContain(`${workspace}/package.json`)
  })

  test('contains files of the repository only, and so does its context', async () => {
    const ignored = await read('Dockerfile.dockerignore')
    const allowed = [...ignored.matchAll(/^!(.+)$/gm)].map(([, path = '']) => path)
    for (const path of copied) {
      expect(allowed.some((it) => path === it || path.startsWith(`${it}/`))).toBe(true)
    }
    expect(ignored.split('\n').filter((line) => !line.startsWith('#'))[0]).toBe('*')
  })
})

describe('the compose file', async () => {
  const Service = z.object({
    image: z.string(),
    environment: z.record(z.string(), z.string()).default({}),
    stop_grace_period: z.string().optional(),
    read_only: z.boolean().default(false),
    volumes: z.array(z.string()).default([]),
    networks: z.array(z.string()),
    ports: z.array(z.string()).default([]),
    profiles: z.array(z.string()).default([]),
  })
  const text = await read('compose/compose.yaml')
  const { services } = yaml(text, z.object({ services: z.record(z.string(), Service) }))
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('node-'))

  test('has two nodes, each with a volume of its own, whose variables are known', () => {
    expect(nodes).toHaveLength(2)
    expect(new Set(nodes.flatMap(([, { volumes }]) => volumes)).size).toBe(2)
    for (const [, { environment, image, read_only }] of nodes) {
      expect(unknownOf(Object.keys(environment))).toEqual([])
      expect({ image, read_only }).toEqual({ image: `tollgate:${version}`, read_only: true })
    }
  })

  test('gives running requests the time that they have', () => {
    for (const [, { stop_grace_period = '' }] of nodes) {
      expect(seconds(stop_grace_period)).toBeGreaterThanOrEqual(drainSeconds + closingSeconds)
    }
  })

  test('has no secret in it, and requires each in words', async () => {
    const wanted = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name)
    const example = await read('compose/.env.example')
    for (const name of wanted) expect(example).toMatch(new RegExp(`^${name}=$`, 'm'))
    const named = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)
    for (const name of named) expect(example).toMatch(new RegExp(`^${name}=`, 'm'))
  })

  test('opens the balancer alone, on this machine alone, and closes the database to all others', () => {
    const open = Object.entries(services).filter(([, { ports }]) => ports.length > 0)
    const usual = open.filter(([, { profiles }]) => profiles.length === 0)
    expect(usual.map(([name]) => name)).toEqual(['balancer'])
    expect(open.map(([name]) => name)).toEqual(['balancer', 'prometheus'])
    for (const [, { ports }] of open)
      expect(ports).toEqual([expect.stringContaining(':-127.0.0.1:')])
    for (const name of ['postgres', 'valkey']) {
      expect(services[name]?.networks).toEqual(['inside'])
    }
  })

  test('names its images by exact versions', () => {
    for (const { image } of Object.values(services)) {
      expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-\w+)?$/)
    }
  })
})

describe('the balancer', async () => {
  const text = await read('compose/nginx.conf')
  const valueOf = (name: string) => new RegExp(`^\\s*${name} ([^;]+);`, 'm').exec(text)?.[1] ?? ''

  test('buffers nothing, and waits longer than Tollgate does', () => {
    expect(valueOf('proxy_buffering')).toBe('off')
    expect(valueOf('proxy_request_buffering')).toBe('off')
    const { streamMs, requestMs } = timers
    expect(seconds(valueOf('proxy_read_timeout')) * 1000).toBeGreaterThan(
      Math.max(streamMs, requestMs),
    )
  })

  test('closes resting connections before a node does', () => {
    const [upstream = ''] = /upstream tollgate \{[^}]*\}/.exec(text) ?? []
    const [, keepAlive = ''] = /keepalive_timeout (\S+);/.exec(upstream) ?? []
    expect(seconds(keepAlive)).toBeLessThan(keepAliveSeconds)
  })

  test('finding N19: its hint for HTTP/2 is right for nginx before 1.25.1 and from there on', () => {
    expect(text).toMatch(/from nginx 1\.25\.1 on: listen 443 ssl; http2 on;\n/)
    expect(text).toMatch(/before that .*: listen 443 ssl http2;\n/)
  })

  test.skipIf(!Bun.which('nginx'))('is understood by nginx (needs nginx)', async () => {
    const here = await mkdtemp(join(tmpdir(), 'tollgate-nginx-'))
    try {
      // Names of services are known in their network alone.
      const local = text
        .replaceAll(/node-[ab]:8080/g, '127.0.0.1:9')
        .replaceAll(/\/(run|dev)\//g, `${here}/`)
      await Bun.write(join(here, 'nginx.conf'), local)
      const tried = Bun.spawnSync(['nginx', '-t', '-p', here, '-c', join(here, 'nginx.conf')])
      expect(tried.stderr.toString()).toContain('test is successful')
    } finally {
      await rm(here, { recursive: true })
    }
  })
})

describe('the unit', async () => {
  const unit = await read('systemd/tollgate.service')
  const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''

  test('knows the variables that it sets and shows', async () => {
    const shown = await read('systemd/tollgate.env')
    const lines = `${unit.replaceAll(/^Environment=/gm, '#')}${shown}`
    const names = [...lines.matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name)
    expect(names).toContain('DATA_DIR')
    expect(unknownOf(names)).toEqual([])
  })

  test('signals the server alone to stop, and waits for it', () => {
    expect(valueOf('KillMode')).toBe('mixed')
    expect(Number(valueOf('TimeoutStopSec'))).toBeGreaterThanOrEqual(drainSeconds + closingSeconds)
  })

  test.skipIf(!Bun.which('systemd-analyze'))('is closed (needs systemd)', () => {
    const path = join(folder, 'systemd/tollgate.service')
    const command = ['systemd-analyze', 'security', '--offline=true', '--threshold=20', path]
    expect(Bun.spawnSync(command).exitCode).toBe(0)
  })
})

describe('the manifests', async () => {
  const Container = z.object({
    image: z.string(),
    ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
    env: z.array(z.object({ name: z.string() })),
    envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))),
    lifecycle: z.object({
      preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }),
    }),
    startupProbe: z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) }),
    readinessProbe: z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) }),
    livenessProbe: z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) }),
    resources: z.object({ requests: z.object({ cpu: z.string(), memory: z.string() }) }),
    securityContext: z.object({
      allowPrivilegeEscalation: z.literal(false),
      readOnlyRootFilesystem: z.literal(true),
      capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
    }),
    volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
  })
  const Pod = z.object({
    terminationGracePeriodSeconds: z.number(),
    automountServiceAccountToken: z.literal(false),
    securityContext: z.object({
      runAsNonRoot: z.literal(true),
      runAsUser: z.literal(10_001),
      seccompProfile: z.object({ type: z.literal('RuntimeDefault') }),
    }),
    containers: z.tuple([Container]),
  })
  const Labels = z.object({ 'app.kubernetes.io/name': z.string() })
  const selector = z.object({ matchLabels: Labels })
  const Nodes = z.object({
    spec: z.object({
      replicas: z.number().min(2),
      serviceName: z.string(),
      selector,
      template: z.object({ metadata: z.object({ labels: Labels }), spec: Pod }),
    }),
  })
  const nodes = yaml(await read('kubernetes/nodes.yaml'), Nodes).spec
  const pod = nodes.template.spec
  const [container] = pod.containers

  test('are all in the list', async () => {
    const Listed = z.object({
      resources: z.array(z.string()),
      images: z.tuple([z.object({ name: z.string(), newTag: z.string() })]),
    })
    const listed = yaml(await read('kubernetes/kustomization.yaml'), Listed)
    const files = (await readdir(join(folder, 'kubernetes'))).filter(
      (name) => name !== 'kustomization.yaml',
    )
    expect(listed.resources.toSorted()).toEqual(files.toSorted())
    expect(listed.images[0]).toEqual({ name: container.image, newTag: version })
  })

  test('probe liveness and readiness at the paths of Tollgate', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz'])
    const [port] = container.ports
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      expect(probe.httpGet.port).toBe(port?.name ?? '')
    }
    expect(port?.containerPort).toBe(8080)
  })

  test('give running requests their grace period, after traffic has stopped', () => {
    const [, waits] = container.lifecycle.preStop.exec.command
    expect(Number(waits)).toBeGreaterThan(0)
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      Number(waits) + drainSeconds + closingSeconds,
    )
  })

  test('set variables that are known', async () => {
    const Map = z.object({ data: z.record(z.string(), z.string()) })
    const { data } = yaml(await read('kubernetes/configuration.yaml'), Map)
    expect(unknownOf([...Object.keys(data), ...container.env.map(({ name }) => name)])).toEqual([])
    expect(readConfig(data).baseUrl).toBe('https://tollgate.example.com')
  })

  test('find the same pods, and leave one of them alone at a time', async () => {
    const labels = nodes.template.metadata.labels
    expect(nodes.selector.matchLabels).toEqual(labels)
    const Budget = z.object({ spec: z.object({ maxUnavailable: z.literal(1), selector }) })
    const budget = yaml(await read('kubernetes/disruption.yaml'), Budget)
    expect(budget.spec.selector.matchLabels).toEqual(labels)
    const text = await read('kubernetes/services.yaml')
    const documents = text.split(/^---$/m).map((it) => z.looseObject({}).parse(Bun.YAML.parse(it)))
    const Service = z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ selector: Labels }),
    })
    const services = documents
      .filter((document) => document['kind'] === 'Service')
      .map((document) => Service.parse(document))
    for (const service of services) expect(service.spec.selector).toEqual(labels)
    expect(services.map(({ metadata }) => metadata.name)).toContain(nodes.serviceName)
  })

  test('write to their volumes alone', () => {
    const paths = container.volumeMounts.map(({ mountPath }) => mountPath)
    expect(paths.toSorted()).toEqual(['/tmp', '/var/lib/tollgate'])
  })
})
