import { Alert, Anchor, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ownPath } from '../address'
import { EntryCard } from '../components/entry-card'
import { Problem } from '../components/problem'
import { ServiceButtons } from '../components/service-buttons'
import { sessionQuery, signIn, type Credentials } from '../session'
import { useSubmit } from '../submit'

const route = getRouteApi('/entry/sign-in')

export function SignInPage() {
  const { to, error } = route.useSearch()
  const [needsFactor, setNeedsFactor] = useState(false)
  const queries = useQueryClient()
  const enter = async () => {
    await queries.resetQueries(sessionQuery)
    window.location.assign(ownPath(to) ?? '/')
  }
  if (needsFactor) return <Factor onDone={enter} />
  return (
    <EntryCard title="Sign in">
      {error && <Alert color="red">This link has expired. Sign in, or request a new one.</Alert>}
      <Password
        onDone={async ({ needsFactor: isNext }) => (isNext ? setNeedsFactor(true) : enter())}
      />
      <ServiceButtons />
      {isOnThisMachine && (
        <Text size="sm" c="dimmed">
          Operators: every start of the server prints a sign-in link.
        </Text>
      )}
      <Group justify="space-between">
        <Anchor size="sm" component={Link} to="/sign-up">
          Create an account
        </Anchor>
        <Anchor size="sm" component={Link} to="/forgot-password">
          Forgot password?
        </Anchor>
      </Group>
    </EntryCard>
  )
}

/** A first-time operator has no password yet, but has the server log at hand. */
const isOnThisMachine = ['localhost', '127.0.0.1', '[::1]'].includes(window.location.hostname)

interface PasswordProps {
  onDone: (next: { needsFactor: boolean }) => Promise<void>
}

function Password({ onDone }: PasswordProps) {
  const form = useForm<Credentials>({ initialValues: { email: '', password: '' } })
  const [sentTo, setSentTo] = useState<string>()
  const entering = useSubmit(async (credentials: Credentials) =>
    onDone(await signIn.withPassword(credentials)),
  )
  const linking = useSubmit(async (email: string) => {
    await signIn.withLink(email)
    setSentTo(email)
  })
  const problem = entering.error ?? linking.error
  return (
    <form onSubmit={form.onSubmit((credentials) => void entering.submit(credentials))}>
      <Stack gap="sm">
        <Problem error={problem} />
        {sentTo && <Alert>If {sentTo} has an account, a link to sign in is on its way.</Alert>}
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={entering.isBusy} fullWidth mt="xs">
          Sign in
        </Button>
        <Button
          variant="default"
          loading={linking.isBusy}
          disabled={!form.values.email.includes('@')}
          onClick={() => void linking.submit(form.values.email)}
        >
          Email me a sign-in link
        </Button>
      </Stack>
    </form>
  )
}

function Factor({ onDone }: { onDone: () => Promise<void> }) {
  const form = useForm({ initialValues: { code: '' } })
  const { submit, isBusy, error } = useSubmit(async (code: string) => {
    await (/^\d{6}$/.test(code) ? signIn.withCode(code) : signIn.withBackupCode(code))
    await onDone()
  })
  return (
    <EntryCard
      title="Two-factor authentication"
      about="Enter the code from your authenticator app or a backup code."
    >
      <form onSubmit={form.onSubmit(({ code }) => void submit(code.trim()))}>
        <Stack gap="sm">
          <Problem error={error} />
          <TextInput
            label="Code"
            autoComplete="one-time-code"
            required
            autoFocus
            {...form.getInputProps('code')}
          />
          <Button type="submit" loading={isBusy}>
            Continue
          </Button>
        </Stack>
      </form>
    </EntryCard>
  )
}
