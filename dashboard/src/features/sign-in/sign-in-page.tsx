import { Alert, Anchor, Button, Group, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ownPath } from '../../url/address'
import { EntryCard } from './entry-card'
import { ResourceForm } from '../../components/resource-form'
import { ServiceButtons } from './service-buttons'
import { sessionQuery, signIn, type Credentials } from '../../api/session'
import { useSubmit } from '../../components/use-submit'

const route = getRouteApi('/entry/sign-in')

export function SignInPage() {
  const { to, error } = route.useSearch()
  const [needsFactor, setNeedsFactor] = useState(false)
  const queries = useQueryClient()
  const enter = async () => {
    await queries.resetQueries(sessionQuery)
    window.location.assign(ownPath(to) ?? '/')
  }
  if (needsFactor) return <Factor onComplete={enter} />
  return (
    <EntryCard title="Sign in">
      {error && <Alert color="red">{errorTexts[error] ?? expired}</Alert>}
      <Password
        onComplete={async ({ needsFactor: isNext }) => (isNext ? setNeedsFactor(true) : enter())}
      />
      <ServiceButtons />
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

const expired = 'This link has expired. Sign in, or request a new one.'
/** By the `error` of the address. */
const errorTexts: Readonly<Record<string, string>> = {
  too_many_requests:
    'Too many sign-ins from your network within a few seconds. Wait a moment, then open the link again.',
}

interface PasswordProps {
  onComplete: (next: { needsFactor: boolean }) => Promise<void>
}

function Password({ onComplete }: PasswordProps) {
  const form = useForm<Credentials>({ initialValues: { email: '', password: '' } })
  const [sentTo, setSentTo] = useState<string>()
  const enter = async (credentials: Credentials) =>
    onComplete(await signIn.withPassword(credentials))
  const linking = useSubmit(async (email: string) => {
    await signIn.withLink(email)
    setSentTo(email)
  })
  const sendLink = (
    <Button
      variant="default"
      loading={linking.isBusy}
      disabled={!form.values.email.includes('@')}
      onClick={() => void linking.submit(form.values.email)}
    >
      Email me a sign-in link
    </Button>
  )
  return (
    <ResourceForm
      form={form}
      save={enter}
      label="Sign in"
      kind="entry"
      actions={sendLink}
      actionError={linking.error}
    >
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
    </ResourceForm>
  )
}

function Factor({ onComplete }: { onComplete: () => Promise<void> }) {
  const form = useForm({ initialValues: { code: '' } })
  const save = async (fields: typeof form.values) => {
    const code = fields.code.trim()
    await (/^\d{6}$/.test(code) ? signIn.withCode(code) : signIn.withBackupCode(code))
    await onComplete()
  }
  return (
    <EntryCard
      title="Two-factor authentication"
      about="Enter the code from your authenticator app or a backup code."
    >
      <ResourceForm form={form} save={save} label="Continue" kind="entry">
        <TextInput
          label="Code"
          autoComplete="one-time-code"
          required
          autoFocus
          {...form.getInputProps('code')}
        />
      </ResourceForm>
    </EntryCard>
  )
}
