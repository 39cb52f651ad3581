import {
  Anchor,
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
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
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
  signIn,
  type Session,
} from '../../api/session'
import { useSubmit } from '../../components/use-submit'
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

/** The domain of the first account's placeholder address. */
const unreachable = '@tollgate.internal'

/** Explains how to set an address that receives email. */
const NoMail = ({ id }: { id: string }) => (
  <Text size="sm">
    This address cannot receive email:{' '}
    <Anchor
      size="sm"
      underline="always"
      renderRoot={(props) => <Link to="/operator/users/$id" params={{ id }} {...props} />}
    >
      change the account's address
    </Anchor>{' '}
    first.
  </Text>
)

/** For accounts that signed in by an operator's link or another provider. */
function NoPassword() {
  const { data } = useSuspenseQuery(sessionQuery)
  const email = data?.user.email ?? ''
  const [isSent, setSent] = useState(false)
  const { submit, isBusy, error } = useSubmit(async () => {
    await signIn.forgot(email)
    setSent(true)
  })
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm" maw={520} align="flex-start">
        <Title order={2} size="h4">
          Password
        </Title>
        <Text size="sm">
          This account has no password: you signed in with a link or another provider. With a
          password you can sign in directly and enable two-factor authentication.
        </Text>
        <Problem error={error} />
        {data && email.endsWith(unreachable) && <NoMail id={data.user.id} />}
        {isSent ? (
          <Text size="sm" role="status">
            An email is on its way to {email}. Its link lets you set a password; you are then signed
            out everywhere and sign in with it. If no email arrives, contact the operator of this
            service.
          </Text>
        ) : (
          <Button loading={isBusy} onClick={() => void submit(undefined)}>
            Email me a link to set a password
          </Button>
        )}
      </Stack>
    </Paper>
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
