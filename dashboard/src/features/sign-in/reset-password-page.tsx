import { Anchor, PasswordInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { EntryCard } from './entry-card'
import { ResourceForm } from '../../components/resource-form'
import { passwordProblem } from './password'
import { signIn } from '../../api/session'

const route = getRouteApi('/entry/reset-password')

export function ResetPasswordPage() {
  const { token, error: refusal } = route.useSearch()
  const [isChanged, setChanged] = useState(false)
  const form = useForm({ initialValues: { password: '' }, validate: { password: passwordProblem } })
  const save = async ({ password }: typeof form.values) => {
    await signIn.reset(token ?? '', password)
    setChanged(true)
  }
  if (!token || refusal) {
    return (
      <EntryCard title="This link has expired">
        <Anchor size="sm" component={Link} to="/forgot-password">
          Request a new link
        </Anchor>
      </EntryCard>
    )
  }
  if (isChanged) {
    return (
      <EntryCard title="Your password was changed">
        <Text size="sm">All sessions were signed out. Sign in with the new password.</Text>
        <Anchor size="sm" component={Link} to="/sign-in">
          Sign in
        </Anchor>
      </EntryCard>
    )
  }
  return (
    <EntryCard title="Choose a new password">
      <ResourceForm form={form} save={save} label="Change password" kind="entry">
        <PasswordInput
          label="New password"
          autoComplete="new-password"
          required
          autoFocus
          {...form.getInputProps('password')}
        />
      </ResourceForm>
    </EntryCard>
  )
}
