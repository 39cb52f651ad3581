import { Alert, Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListTable } from '../../components/list-table'
import { Card } from '../../components/card'
import { Problem } from '../../components/problem'
import { When } from '../../components/when'
import { count, duration, exactUsd } from '../../figures'
import { auditQuery, type Audit } from '../../operator/system'

const outcomes = {
  in_order: ['in order', 'green'],
  violations: ['not in order', 'red'],
  not_finished: ['not finished', 'orange'],
} as const

/** The audit of the ledger, when somebody asks for it. */
export function LedgerAudit() {
  const { data, error, isFetching, refetch } = useQuery(auditQuery)
  return (
    <Card title="Ledger audit">
      <Text size="sm" c="dimmed" maw={640}>
        Compares every balance, lease and booking with what it must be. It may take up to 25 s, and
        changes nothing. Its report is kept for a minute: until then you get the same one.
      </Text>
      <Group>
        <Button loading={isFetching} onClick={() => void refetch()}>
          {data ? 'Run it again' : 'Run the audit'}
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
  in_order: ['green', 'The ledger is in order'],
  violations: ['red', 'The ledger is not in order'],
  not_finished: ['orange', 'There was no time for everything'],
} as const

function Report({ audit }: { audit: Audit }) {
  const [color, title] = verdicts[audit.outcome]
  return (
    <Stack gap="sm">
      <Alert color={color} title={title}>
        Looked at <When at={audit.ran_at} withSeconds />, in {duration(audit.took_ms)}.
        {audit.checked && ` ${checkedWords(audit.checked)}`}
        {audit.outcome === 'not_finished' && ' “tollgate audit” takes the time that it needs.'}
      </Alert>
      <Checks checks={audit.checks} />
      {audit.warnings && <Warnings warnings={audit.warnings} />}
    </Stack>
  )
}

const checkedWords = (checked: NonNullable<Audit['checked']>) =>
  `${count(checked.accounts)} accounts, ${count(checked.transactions)} transactions, ` +
  `${count(checked.leases)} leases, ${count(checked.events)} events; ` +
  `${exactUsd(checked.written_off)} written off.`

const Checks = ({ checks }: { checks: Audit['checks'] }) => (
  <ListTable
    columns={[
      'Rule',
      { name: 'It would mean', place: 'wide' },
      { name: 'Outcome', place: 'aside' },
    ]}
    minWidth={620}
  >
    {checks.map((one) => (
      <Check key={one.check} check={one} />
    ))}
  </ListTable>
)

function Check({ check }: { check: Audit['checks'][number] }) {
  const [words, color] = outcomes[check.outcome]
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
            {findingWords(finding)}
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
          {words}
        </Badge>
      </Table.Td>
    </Table.Tr>
  )
}

type Finding = Audit['checks'][number]['findings'][number]

function findingWords({ account_id: account, ref, expected, found, difference }: Finding): string {
  const subject = account === null || account === ref ? ref : `${account} ${ref}`
  if (expected === null || found === null || difference === null) return subject
  return `${subject}: must be ${exactUsd(expected)}, is ${exactUsd(found)} (${exactUsd(difference)})`
}

const Warnings = ({ warnings }: { warnings: NonNullable<Audit['warnings']> }) => {
  const { idle_leases_total: idle, unresolved_orphans: orphans } = warnings
  if (idle === 0 && orphans === 0) return undefined
  return (
    <Alert color="orange" title="Worth a look">
      {idle > 0 && <Text size="sm">{count(idle)} leases that nobody has used for long.</Text>}
      {orphans > 0 && (
        <Text size="sm">{count(orphans)} attempts of dead processes, older than a day.</Text>
      )}
    </Alert>
  )
}
