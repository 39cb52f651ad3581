import { Alert, Anchor, Button, Group, PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ownPath } from '../../url/address'
import { EntryCard } from './entry-card'
import { explainFailure } from './failure'
import { ResourceForm } from '../../components/resource-form'
import { ServiceButtons } from './service-buttons'
import { useSendsEmail } from '../../api/installation'
import { sessionQuery, signIn, type Credentials } from '../../api/session'
import { useSubmit } from '../../components/use-submit'

const route = getRouteApi('/entry/sign-in')

export function SignInPage() {
  const { to, error, factor } = route.useSearch()
  const [needsFactor, setNeedsFactor] = useState(factor !== undefined)
  const sendsEmail = useSendsEmail()
  const queries = useQueryClient()
  const enter = async () => {
    await queries.resetQueries(sessionQuery)
    window.location.assign(ownPath(to) ?? '/')
  }
  if (needsFactor) return <Factor onComplete={enter} />
  return (
    <EntryCard title="Sign in">
      {error && <Alert color="red">{explainFailure(error)}</Alert>}
      <Password
        sendsEmail={sendsEmail}
        onComplete={async ({ needsFactor: isNext }) => (isNext ? setNeedsFactor(true) : enter())}
      />
      <ServiceButtons />
      {!sendsEmail && (
        <Text size="sm" c="dimmed">
          This service sends no email. If you cannot sign in, ask its operator for a sign-in link.
        </Text>
      )}
      <Group justify="space-between">
        <Anchor size="sm" component={Link} to="/sign-up">
          Create an account
        </Anchor>
        {sendsEmail && (
          <Anchor size="sm" component={Link} to="/forgot-password">
            Forgot password?
          </Anchor>
        )}
      </Group>
    </EntryCard>
  )
}

interface PasswordProps {
  sendsEmail: boolean
  onComplete: (next: { needsFactor: boolean }) => Promise<void>
}

function Password({ sendsEmail, onComplete }: PasswordProps) {
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
      actions={sendsEmail && sendLink}
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
    await signIn.withFactor(fields.code.trim())
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
      {/* A new page begins with the first factor again. */}
      <Anchor size="sm" href="/sign-in">
        Start again
      </Anchor>
    </EntryCard>
  )
}
