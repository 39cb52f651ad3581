import { Alert, Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListTable } from '../../../components/list-table'
import { Card } from '../../../components/card'
import { Problem } from '../../../components/problem'
import { When } from '../../../components/when'
import { count, duration } from '../../../format/figures'
import { exactUsd } from '../../../format/money'
import { auditQuery, type Audit } from './queries'

const outcomes = {
  in_order: ['passed', 'green'],
  violations: ['failed', 'red'],
  not_finished: ['not finished', 'orange'],
} as const

/** The ledger audit, run on request. */
export function LedgerAudit() {
  const { data, error, isFetching, refetch } = useQuery(auditQuery)
  return (
    <Card title="Ledger audit">
      <Text size="sm" c="dimmed" maw={640}>
        Verifies every balance, lease and booking. Takes up to 25 s and changes nothing. The report
        is cached for one minute.
      </Text>
      <Group>
        <Button loading={isFetching} onClick={() => void refetch()}>
          {data ? 'Run again' : 'Run audit'}
        </Button>
      </Group>
      <div aria-live="polite">
        <Problem error={error ?? undefined} />
        {data && <Report audit={data} />}
      </div>
    </Card>
  )
}

const verdicts = {
  in_order: ['green', 'The ledger is consistent'],
  violations: ['red', 'The ledger has violations'],
  not_finished: ['orange', 'The audit did not finish in time'],
} as const

function Report({ audit }: { audit: Audit }) {
  const [color, title] = verdicts[audit.outcome]
  return (
    <Stack gap="sm">
      <Alert color={color} title={title}>
        Audited <When at={audit.ran_at} withSeconds />, in {duration(audit.took_ms)}.
        {audit.checked && ` ${outcomeLabels(audit.checked)}`}
        {audit.outcome === 'not_finished' &&
          ' Run “tollgate audit” for an audit without a time limit.'}
      </Alert>
      <Checks checks={audit.checks} />
      {audit.warnings && <Warnings warnings={audit.warnings} />}
    </Stack>
  )
}

const outcomeLabels = (checked: NonNullable<Audit['checked']>) =>
  `${count(checked.accounts)} accounts, ${count(checked.transactions)} transactions, ` +
  `${count(checked.leases)} leases, ${count(checked.events)} events; ` +
  `${exactUsd(checked.written_off)} written off.`

const Checks = ({ checks }: { checks: Audit['checks'] }) => (
  <ListTable
    columns={[
      'Rule',
      { name: 'A violation means', position: 'wide' },
      { name: 'Result', position: 'aside' },
    ]}
    minWidth={620}
  >
    {checks.map((one) => (
      <Check key={one.check} check={one} />
    ))}
  </ListTable>
)

function Check({ check }: { check: Audit['checks'][number] }) {
  const [label, color] = outcomes[check.outcome]
  const { findings } = check
  return (
    <Table.Tr>
      <Table.Td>{check.invariant}</Table.Td>
      <Table.Td>
        {check.violation}
        {findings.map((finding) => (
          <Text
            key={`${finding.account_id} ${finding.ref}`}
            size="xs"
            c="var(--mantine-color-error)"
            ff="monospace"
          >
            {formatFinding(finding)}
          </Text>
        ))}
        {check.findings_total > findings.length && (
          <Text size="xs" c="dimmed">
            And {count(check.findings_total - findings.length)} more.
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Badge variant="light" color={color}>
          {label}
        </Badge>
      </Table.Td>
    </Table.Tr>
  )
}

type Finding = Audit['checks'][number]['findings'][number]

function formatFinding({ account_id: account, ref, expected, found, difference }: Finding): string {
  const subject = account === null || account === ref ? ref : `${account} ${ref}`
  if (expected === null || found === null || difference === null) return subject
  return `${subject}: expected ${exactUsd(expected)}, found ${exactUsd(found)} (${exactUsd(difference)})`
}

const Warnings = ({ warnings }: { warnings: NonNullable<Audit['warnings']> }) => {
  const { idle_leases_total: idle, unresolved_orphans: orphans } = warnings
  if (idle === 0 && orphans === 0) return undefined
  return (
    <Alert color="orange" title="Warnings">
      {idle > 0 && <Text size="sm">{count(idle)} leases unused for a long time.</Text>}
      {orphans > 0 && (
        <Text size="sm">
          {count(orphans)} unresolved attempts of terminated processes, older than one day.
        </Text>
      )}
    </Alert>
  )
}
