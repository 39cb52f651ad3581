import { Button, Group, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { admin, json } from '../../api'
import { changesOf } from '../../changes'
import { Card } from '../../components/card'
import { Problem } from '../../components/problem'
import { PlanSelect } from '../../operator/plan-select'
import { useRefresh } from '../../operator/refresh'
import type { User } from '../../operator/users'
import { useSubmit } from '../../submit'

const fieldsOf = (user: User) => ({
  email: user.email,
  display_name: user.display_name,
  plan_id: user.plan_id,
  payment_method_required: user.payment_method_required,
})

type Fields = ReturnType<typeof fieldsOf>

/** The profile and the plan of a user. */
export function UserProfile({ user }: { user: User }) {
  const refresh = useRefresh()
  const before = fieldsOf(user)
  const form = useForm({ initialValues: before })
  const { submit, isBusy, error } = useSubmit(async (fields: Fields) => {
    const changes = json(changesOf(fields, before))
    const answer = await admin.users[':id'].$put({ param: { id: user.id } }, changes)
    const kept = fieldsOf(await answer.json())
    form.setInitialValues(kept)
    form.setValues(kept)
    await refresh()
    notifications.show({ message: 'Saved.' })
  }, form)
  return (
    <Card title="Profile">
      <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
        <Stack gap="sm">
          <Problem error={error} />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput
              label="Name"
              required
              maxLength={100}
              {...form.getInputProps('display_name')}
            />
            <TextInput
              label="Email"
              type="email"
              required
              maxLength={254}
              {...form.getInputProps('email')}
            />
            <PlanSelect label="Plan" allowDeselect={false} {...form.getInputProps('plan_id')} />
          </SimpleGrid>
          <Switch
            label="Require payment before paid requests"
            {...form.getInputProps('payment_method_required', { type: 'checkbox' })}
          />
          <Group>
            <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}
