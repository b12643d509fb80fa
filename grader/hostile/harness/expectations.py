"""What has to be true of the result of an attack, wherever it was graded."""

from harness.checkout import TASKS


def faults_of_task(attack, task, verdicts):
    """What is wrong with the result of the attacked task."""
    faults = []
    codes = [diagnostic["code"] for diagnostic in task["diagnostics"]]
    if task["verdict"] not in verdicts:
        faults.append(f"the verdict is {task['verdict']} ({codes}), not {' or '.join(verdicts)}")
    elif attack.codes and task["verdict"] in attack.verdicts and not set(attack.codes) & set(codes):
        faults.append(f"the codes are {codes}, not {' or '.join(attack.codes)}")
    elif attack.says and not any(attack.says in diagnostic["message"] for diagnostic in task["diagnostics"]):
        faults.append(f"no message has {attack.says!r}: {[d['message'] for d in task['diagnostics']]}")
    if not task["score"] <= attack.max_score:
        faults.append(f"the score is {task['score']}, more than {attack.max_score}")
    return faults


def faults_of_task_on_gpu(attack, task):
    """The same of a real GPU, which has no checkers: what the attack is called may differ, what it gets may not."""
    if task["verdict"] == "grader-fault":
        return [f"it makes the grader fail: {task['diagnostics']}"]
    if task["verdict"] == "pass" and "pass" not in attack.verdicts_on_gpu:
        return ["it passes"]
    if not task["score"] <= attack.max_score_on_gpu:
        return [f"the score is {task['score']}, more than {attack.max_score_on_gpu}"]
    return []


def without_times(document):
    """A grade without what differs from run to run on a real GPU."""
    varying = ("timing", "timings", "counters")
    tasks = [{key: value for key, value in task.items() if key not in varying} for task in document["tasks"]]
    return {**document, "tasks": tasks}


def faults_of_others(attack, tasks, right):
    """What is wrong with the tasks that this submission solves."""
    return [f"the task {name}, which is right, suffers: {tasks[i]['verdict']}, {tasks[i]['score']} points"
            for i, name in enumerate(TASKS) if name != attack.task and tasks[i] != right[i]]


def secrets_shown(attack, texts):
    return [f"the {name} shows {secret!r}" for secret in attack.never_says for name, text in texts.items()
            if secret in text]
