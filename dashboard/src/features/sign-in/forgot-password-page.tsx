import { Anchor, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { EntryCard } from './entry-card'
import { ResourceForm } from '../../components/resource-form'
import { signIn } from '../../api/session'

export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string>()
  const form = useForm({ initialValues: { email: '' } })
  const save = async ({ email }: typeof form.values) => {
    await signIn.forgot(email)
    setSentTo(email)
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
      <Anchor size="sm" component={Link} to="/sign-in">
        Back to sign-in
      </Anchor>
    </EntryCard>
  )
}
