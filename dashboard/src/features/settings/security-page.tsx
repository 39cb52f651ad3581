import {
  Badge,
  Button,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { Problem } from '../../components/problem'
import { ResourceForm } from '../../components/resource-form'
import { ResourceList } from '../../components/resource-list'
import { allRows } from '../../api/paging'
import { passwordProblem } from '../sign-in/password'
import {
  hasPasswordQuery,
  security,
  sessionQuery,
  sessionsQuery,
  type Session,
} from '../../api/session'
import { useSubmit } from '../../components/use-submit'
import { NoPassword } from './no-password'
import { SecondFactor } from './second-factor'

export const SecurityPage = () => (
  <Page title="Security" about="Password, two-factor authentication and sessions.">
    <Password />
    <Sessions />
  </Page>
)

/** Settings of an account with a password, or the way to set one. */
function Password() {
  const query = useQuery(hasPasswordQuery)
  return (
    <Loaded query={query}>
      {(hasPassword) =>
        hasPassword ? (
          <>
            <ChangePassword />
            <SecondFactor />
          </>
        ) : (
          <NoPassword />
        )
      }
    </Loaded>
  )
}

function ChangePassword() {
  const form = useForm({
    initialValues: { current: '', next: '' },
    validate: { next: passwordProblem },
  })
  const save = async ({ current, next }: typeof form.values) => {
    await security.changePassword(current, next)
    form.reset()
    notifications.show({
      message: 'Your password was changed. Your other sessions were signed out.',
    })
  }
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm" maw={380}>
        <Title order={2} size="h4">
          Password
        </Title>
        <ResourceForm form={form} save={save} label="Change password" kind="action">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            {...form.getInputProps('current')}
          />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            required
            {...form.getInputProps('next')}
          />
        </ResourceForm>
      </Stack>
    </Paper>
  )
}

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

interface SessionRowProps {
  session: Session
  isCurrent: boolean
  onEnd: () => void
}

const SessionRow = ({ session, isCurrent, onEnd }: SessionRowProps) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Group gap={6}>
        <Text size="sm">{session.userAgent ?? 'Unknown browser'}</Text>
        {isCurrent && <Badge variant="light">current</Badge>}
      </Group>
      <Text size="xs" c="dimmed">
        {session.ipAddress} · since {time.format(new Date(session.createdAt))}
      </Text>
    </Table.Td>
    <Table.Td ta="right">
      {!isCurrent && (
        <Button size="xs" variant="subtle" color="red" onClick={onEnd}>
          Sign out
        </Button>
      )}
    </Table.Td>
  </Table.Tr>
)

function Sessions() {
  const query = useQuery(sessionsQuery)
  const queries = useQueryClient()
  const { data } = useSuspenseQuery(sessionQuery)
  const ending = useSubmit(async (token: string | undefined) => {
    await (token === undefined ? security.revokeOthers() : security.revoke(token))
    await queries.invalidateQueries(sessionsQuery)
  })
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Sessions
          </Title>
          <Button
            size="xs"
            variant="default"
            loading={ending.isBusy}
            onClick={() => void ending.submit(undefined)}
          >
            Sign out all others
          </Button>
        </Group>
        <Problem error={ending.error} />
        <ResourceList
          query={query}
          rows={(sessions) => allRows(sessions)}
          plural="sessions"
          empty="No sessions."
        >
          {(sessions) => (
            <Table>
              <Table.Tbody>
                {sessions.map((one) => (
                  <SessionRow
                    key={one.id}
                    session={one}
                    isCurrent={one.id === data?.session.id}
                    onEnd={() => void ending.submit(one.token)}
                  />
                ))}
              </Table.Tbody>
            </Table>
          )}
        </ResourceList>
      </Stack>
    </Paper>
  )
}
