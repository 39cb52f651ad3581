import { Anchor, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { EntryCard } from './entry-card'
import { ResourceForm } from '../../components/resource-form'
import { useSendsEmail } from '../../api/installation'
import { signIn } from '../../api/session'

export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string>()
  const sendsEmail = useSendsEmail()
  const form = useForm({ initialValues: { email: '' } })
  const save = async ({ email }: typeof form.values) => {
    await signIn.forgot(email)
    setSentTo(email)
  }
  if (!sendsEmail) {
    return (
      <EntryCard title="Reset your password">
        <Text size="sm">This service sends no email. Ask its operator for a sign-in link.</Text>
        <BackToSignIn />
      </EntryCard>
    )
  }
  return (
    <EntryCard title="Reset your password" about="We email you a link to choose a new password.">
      {sentTo ? (
        <Text size="sm">
          If {sentTo} has an account, a link is on its way. It works for an hour.
        </Text>
      ) : (
        <ResourceForm form={form} save={save} label="Send link" kind="entry">
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
        </ResourceForm>
      )}
      <BackToSignIn />
    </EntryCard>
  )
}

const BackToSignIn = () => (
  <Anchor size="sm" component={Link} to="/sign-in">
    Back to sign-in
  </Anchor>
)
