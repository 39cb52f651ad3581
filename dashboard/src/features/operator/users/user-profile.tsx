import { ResourceForm } from '../../../components/resource-form'
import { SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { changedFields } from '../../../components/changed-fields'
import { Card } from '../../../components/card'
import { PlanSelect } from '../plans/plan-select'
import { useRefresh } from '../refresh'
import type { User } from './queries'

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
  const save = async (fields: Fields) => {
    const params = { path: { id: user.id } }
    const body = changedFields<Schemas['ChangedUser']>(fields, before)
    const saved = fieldsOf(await bodyOf(api.PUT('/api/admin/users/{id}', { params, body })))
    form.setInitialValues(saved)
    form.setValues(saved)
    await refresh()
    notifications.show({ message: 'Saved.' })
  }
  return (
    <Card title="Profile">
      <ResourceForm form={form} save={save} label="Save">
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
      </ResourceForm>
    </Card>
  )
}
