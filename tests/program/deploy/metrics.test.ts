import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { readConfig } from '../../../server/src/platform/config/config'
import {
  readCompose,
  readDocuments,
  readImageEnvironment,
  readPackageFile,
  readPod,
  readYaml,
  renderComposeEnvironment,
  renderPodEnvironment,
  renderUnitEnvironment,
} from './render'

const prometheusFolder = join(import.meta.dir, '../../../deploy/prometheus')

const Relabel = z.strictObject({
  source_labels: z.array(z.string()),
  regex: z.string().optional(),
  action: z.literal('keep').optional(),
  target_label: z.string().optional(),
})
const Prometheus = z.object({
  rule_files: z.array(z.string()),
  scrape_configs: z.tuple([
    z.object({
      job_name: z.literal('tollgate'),
      metrics_path: z.literal('/metrics').default('/metrics'),
      static_configs: z.array(z.object({ targets: z.array(z.string()) })).default([]),
      kubernetes_sd_configs: z
        .array(
          z.object({
            role: z.literal('pod'),
            namespaces: z.object({ names: z.array(z.string()) }),
          }),
        )
        .default([]),
      relabel_configs: z.array(Relabel).default([]),
    }),
  ]),
})

async function readScrape(name: string) {
  const { rule_files, scrape_configs } = await readYaml(`prometheus/${name}`, Prometheus)
  // The rules go by the job's name, and lie beside the file.
  expect(rule_files).toEqual(['alerts.yml'])
  return scrape_configs[0]
}

const targetsOf = (scrape: Awaited<ReturnType<typeof readScrape>>) =>
  scrape.static_configs.flatMap(({ targets }) => targets)

/** Where a node of this environment serves its metrics. */
const metricsOf = (variables: Readonly<Record<string, string>>) =>
  readConfig({ ...variables, DATABASE_URL: '' }).telemetry.listener

describe('N4: metrics of the compose package', async () => {
  const services = await readCompose()
  const dotEnv =
    'POSTGRES_PASSWORD=p\nVALKEY_PASSWORD=v\nADMIN_KEY=0123456789abcdef\nENCRYPTION_KEY='
  const key = Buffer.from([...Array(32).keys()]).toString('base64')
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('node-'))

  test('every node serves them, and Prometheus scrapes every node', async () => {
    const served = nodes.map(([name, service]) => {
      const metrics = metricsOf(renderComposeEnvironment(service, dotEnv + key))
      expect(metrics?.host).toBe('0.0.0.0')
      expect(service.expose).toEqual([String(metrics?.port)])
      return `${name}:${metrics?.port}`
    })
    expect(served).toEqual(['node-a:9464', 'node-b:9464'])
    expect(targetsOf(await readScrape('compose.yml'))).toEqual(served)
  })

  test('Prometheus reads that file, in a network that it shares with the nodes', () => {
    const { prometheus } = services
    expect(prometheus?.profiles).toEqual(['monitoring'])
    expect(prometheus?.volumes).toContain('../prometheus:/etc/prometheus:ro')
    for (const [, { networks }] of nodes) {
      expect(networks.filter((one) => prometheus?.networks.includes(one))).not.toEqual([])
    }
  })

  test('the balancer does not route to them', async () => {
    expect(await readPackageFile('compose/nginx.conf')).not.toMatch(/9464|metrics/)
  })
})

describe('N4: metrics of the manifests', async () => {
  const pod = await readPod()
  const port = pod.container.ports.find(({ name }) => name === 'metrics')

  test('the pod serves them at the port that it declares and is annotated with', async () => {
    const key = Buffer.from([...Array(32).keys()]).toString('base64')
    const metrics = metricsOf(await renderPodEnvironment({ ENCRYPTION_KEY: key }))
    expect(metrics).toEqual({ host: '0.0.0.0', port: port?.containerPort ?? 0 })
    expect(pod.annotations).toEqual({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': String(port?.containerPort),
      'prometheus.io/path': '/metrics',
    })
  })

  test('the network policy admits only the namespace of Prometheus', async () => {
    const Ingress = z.strictObject({
      from: z
        .array(
          z.strictObject({
            namespaceSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
          }),
        )
        .optional(),
      ports: z.array(z.object({ port: z.string() })).min(1),
    })
    const { spec } = await readYaml(
      'kubernetes/network.yaml',
      z.object({ spec: z.object({ ingress: z.array(Ingress) }) }),
    )
    const rules = spec.ingress.filter(({ ports }) => ports.some((one) => one.port === 'metrics'))
    expect(rules).toEqual([
      {
        from: [
          { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
        ],
        ports: [{ port: 'metrics' }],
      },
    ])
    expect(await readPackageFile('prometheus/kubernetes.yml')).toContain('`monitoring`')
  })

  test('no service and no ingress leads to them', async () => {
    const text = JSON.stringify(await readDocuments('kubernetes/services.yaml'))
    expect(text).not.toMatch(/9464|metrics/)
  })

  test('the scrape configuration finds the port of every pod, once', async () => {
    const scrape = await readScrape('kubernetes.yml')
    expect(scrape.kubernetes_sd_configs).toEqual([
      { role: 'pod', namespaces: { names: ['tollgate'] } },
    ])
    // Service discovery makes one target a port of a container, with these labels.
    const found = pod.container.ports.map(({ name }) => ({
      __meta_kubernetes_pod_container_port_name: name,
      __meta_kubernetes_pod_label_app_kubernetes_io_name:
        pod.labels['app.kubernetes.io/name'] ?? '',
      __meta_kubernetes_pod_name: 'tollgate-0',
    }))
    const kept = found.filter((labels) =>
      scrape.relabel_configs
        .filter(({ action }) => action === 'keep')
        .every(({ source_labels, regex = '(.*)' }) => {
          const text = source_labels
            .map((name) => new Map(Object.entries(labels)).get(name))
            .join(';')
          return new RegExp(`^(?:${regex})$`).test(text)
        }),
    )
    expect(kept.map((labels) => labels.__meta_kubernetes_pod_container_port_name)).toEqual([
      'metrics',
    ])
  })

  test('the pod monitor selects the pods, and names the job as the rules do', async () => {
    const { metadata, spec } = await readYaml(
      'prometheus/pod-monitor.yaml',
      z.object({
        kind: z.literal('PodMonitor'),
        metadata: z.object({ namespace: z.string() }),
        spec: z.object({
          jobLabel: z.string(),
          selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
          podMetricsEndpoints: z.array(z.object({ port: z.string(), path: z.string() })),
        }),
      }),
    )
    expect(metadata.namespace).toBe('tollgate')
    expect(pod.labels).toMatchObject(spec.selector.matchLabels)
    expect(pod.labels[spec.jobLabel]).toBe('tollgate')
    expect(spec.podMetricsEndpoints).toEqual([{ port: port?.name ?? '', path: '/metrics' }])
  })

  test.skipIf(!Bun.which('kubectl'))('kustomize renders all of it (needs kubectl)', () => {
    const folder = join(import.meta.dir, '../../../deploy/kubernetes')
    const rendered = Bun.spawnSync(['kubectl', 'kustomize', folder])
    expect(rendered.stderr.toString()).toBe('')
    const text = rendered.stdout.toString()
    expect(text).toContain('containerPort: 9464')
    expect(text).toContain('port: metrics')
    expect(text).toContain('name: tollgate\n')
  })
})

test('N4: the image serves metrics at the port that it exposes', async () => {
  const metrics = metricsOf(await readImageEnvironment())
  expect(metrics).toEqual({ host: '0.0.0.0', port: 9464 })
  expect(await readPackageFile('Dockerfile')).toMatch(/^EXPOSE 8080 9464$/m)
})

test('N4: the unit serves metrics to its own machine, where Prometheus scrapes them', async () => {
  const shown = await readPackageFile('systemd/tollgate.env')
  const metrics = metricsOf(await renderUnitEnvironment(shown))
  expect(metrics?.host).toBe('127.0.0.1')
  expect(targetsOf(await readScrape('systemd.yml'))).toEqual([`127.0.0.1:${metrics?.port}`])
})

describe.skipIf(!Bun.which('promtool'))('promtool (needs promtool)', () => {
  // Debian's promtool is built without Kubernetes.
  test.each(['compose.yml', 'systemd.yml'])('takes %s', (name) => {
    const path = join(prometheusFolder, name)
    const checked = Bun.spawnSync(['promtool', 'check', 'config', path])
    expect({ code: checked.exitCode, errors: checked.stderr.toString() }).toMatchObject({ code: 0 })
  })
})
